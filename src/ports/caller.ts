import type { Permission } from "../model/index.ts";
import type { Headers } from "./index.ts";

export type { Permission } from "../model/index.ts";

/** What is known of a caller before its words are read. */
export interface Caller {
  readonly headers: Headers;
  /** The certificate that it showed, as fingerprint and name; undefined: none, or none that is trusted. */
  readonly certificate: () => PeerCertificate | undefined;
}
export interface PeerCertificate {
  /** SHA-256, in lower-case hex without colons. */
  readonly fingerprint: string;
  readonly commonName: string | undefined;
}

/** Whom an agent tells more than its card. */
export interface KnownCaller {
  readonly tenant: string;
  readonly principal: string;
  readonly grants: readonly Permission[];
}
