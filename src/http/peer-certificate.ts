import type { PeerCertificate } from "../ports/index.ts";

/** The members of a TLS socket that are used here; a socket in clear text has none of them. */
interface MaybeTlsSocket {
  readonly authorized?: boolean;
  getPeerCertificate?(): NodeCertificate;
}
/** As Node describes a certificate; without members: the caller sent none. */
interface NodeCertificate {
  readonly fingerprint256?: string;
  readonly subject?: { readonly CN?: string | string[] };
}

/** The client certificate of a connection, if its authority is trusted. */
export function readPeerCertificate(socket: unknown): PeerCertificate | undefined {
  const { authorized, getPeerCertificate } = (socket ?? {}) as MaybeTlsSocket;
  if (authorized !== true || !getPeerCertificate) return undefined;
  const { fingerprint256, subject } = getPeerCertificate.call(socket);
  if (fingerprint256 === undefined) return undefined;
  const name = subject?.CN;
  return {
    fingerprint: fingerprint256.replaceAll(":", "").toLowerCase(),
    // With several common names it is undefined which one counts.
    commonName: typeof name === "string" ? name : undefined,
  };
}
