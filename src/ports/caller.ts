import type { Permission } from "../model/index.ts";

export type { Permission } from "../model/index.ts";

/** Header names in lower case; a header that came twice is joined with a comma, as HTTP allows. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** The facts about a caller that are available before its message is read. */
export interface Caller {
  readonly headers: RequestHeaders;
  /** The client certificate; undefined: none, or none that is trusted. */
  readonly certificate: () => PeerCertificate | undefined;
  /** The verb and the path with its query; undefined: it is not a plain HTTP request. */
  readonly target?: (() => { readonly verb: string; readonly url: string }) | undefined;
}
export interface PeerCertificate {
  /** SHA-256, in lower-case hex without colons. */
  readonly fingerprint: string;
  readonly commonName: string | undefined;
}

/** The authenticated caller of an extended card. */
export interface KnownCaller {
  readonly tenant: string;
  readonly principal: string;
  readonly grants: readonly Permission[];
}
