import type { PeerCertificate } from "../ports/index.ts";

/** What is used of a connection with TLS; one in clear text has none of it. */
interface Connection {
  readonly authorized?: boolean;
  getPeerCertificate?(): Shown;
}
/** As Node describes a certificate; without members: there is none. */
interface Shown {
  readonly fingerprint256?: string;
  readonly subject?: { readonly CN?: string | string[] };
}

/** The certificate that a caller showed, if it is one that is trusted here. */
export function peerOf(connection: unknown): PeerCertificate | undefined {
  const { authorized, getPeerCertificate } = (connection ?? {}) as Connection;
  if (authorized !== true || !getPeerCertificate) return undefined;
  return toPeer(getPeerCertificate.call(connection));
}

export function toPeer({ fingerprint256, subject }: Shown): PeerCertificate | undefined {
  if (fingerprint256 === undefined) return undefined;
  const name = subject?.CN;
  return {
    fingerprint: fingerprint256.replaceAll(":", "").toLowerCase(),
    // Several names are none: nobody can choose which one counts.
    commonName: typeof name === "string" ? name : undefined,
  };
}
