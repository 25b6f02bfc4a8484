import type { Headers } from "../ports.ts";

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

/** What a caller may do: messages and streams, reading, cancelling, push, and what is below /admin. */
export type Grant = "send" | "read" | "cancel" | "push" | "admin";
