import { type CertificateOwner, DEFAULT_PERMISSIONS, DEFAULT_TENANT, isCallerName } from "../model/index.ts";
import type { AuthMethod, PeerCertificate, Principal } from "../ports/index.ts";
import { challengeFor } from "./bearer.ts";
import { toPrincipal } from "./principal.ts";

export interface MtlsParts {
  /** undefined: every trusted certificate is accepted; its common name is the principal. */
  readonly owners: readonly CertificateOwner[] | undefined;
}

/** Client certificates. TLS has verified them; a certificate without an owner here counts as no credentials. */
export function createMtlsAuth({ owners }: MtlsParts): AuthMethod {
  const find = owners ? createLookup(owners) : principalOfName;
  return {
    schemes: [{ name: "mtls", kind: "mutual-tls" }],
    challenge: () => challengeFor("ClientCertificate"),
    authenticate({ certificate }) {
      const presented = certificate();
      return presented && find(presented);
    },
  };
}

type Lookup = (certificate: PeerCertificate) => Principal | undefined;

function createLookup(owners: readonly CertificateOwner[]): Lookup {
  const principals = new Map(
    owners.map(owner => [keyOf(owner.fingerprint, owner.commonName), toPrincipal(owner, () => true)]),
  );
  return ({ fingerprint, commonName }) =>
    principals.get(keyOf(fingerprint, undefined)) ?? principals.get(keyOf(undefined, commonName));
}

const keyOf = (fingerprint: string | undefined, commonName: string | undefined): string =>
  fingerprint === undefined ? `name ${commonName}` : `fingerprint ${fingerprint}`;

function principalOfName({ commonName }: PeerCertificate): Principal | undefined {
  if (commonName === undefined || !isCallerName(commonName)) return undefined;
  const identity = {
    principal: commonName,
    tenants: [DEFAULT_TENANT],
    grants: DEFAULT_PERMISSIONS,
    agents: undefined,
  };
  return toPrincipal(identity, () => true);
}
