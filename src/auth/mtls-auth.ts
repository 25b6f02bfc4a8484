import { type CertificateOwner, DEFAULT_PERMISSIONS, DEFAULT_TENANT, isCallerName } from "../model/index.ts";
import type { AuthMethod, PeerCertificate, Principal } from "../ports/index.ts";
import { otherChallenge } from "./bearer.ts";
import { toPrincipal } from "./principal.ts";

export interface MtlsParts {
  /** undefined: everybody whose certificate is trusted is known, by the name in it. */
  readonly owners: readonly CertificateOwner[] | undefined;
}

/** Certificates of callers. The connection has checked them by then; one that is nobody's here says nothing. */
export function createMtlsProof({ owners }: MtlsParts): AuthMethod {
  const find = owners ? createLookup(owners) : anybody;
  return {
    schemes: [{ name: "mtls", kind: "mutual-tls" }],
    challenge: () => otherChallenge("ClientCertificate"),
    authenticate({ certificate }) {
      const shown = certificate();
      return shown && find(shown);
    },
  };
}

type Lookup = (shown: PeerCertificate) => Principal | undefined;

function createLookup(owners: readonly CertificateOwner[]): Lookup {
  const known = new Map(
    owners.map(owner => [keyOf(owner.fingerprint, owner.commonName), toPrincipal(owner, () => true)]),
  );
  return ({ fingerprint, commonName }) =>
    known.get(keyOf(fingerprint, undefined)) ?? known.get(keyOf(undefined, commonName));
}

const keyOf = (fingerprint: string | undefined, commonName: string | undefined): string =>
  fingerprint === undefined ? `name ${commonName}` : `fingerprint ${fingerprint}`;

function anybody({ commonName }: PeerCertificate): Principal | undefined {
  if (commonName === undefined || !isCallerName(commonName)) return undefined;
  const badge = {
    principal: commonName,
    tenants: [DEFAULT_TENANT],
    grants: DEFAULT_PERMISSIONS,
    agents: undefined,
  };
  return toPrincipal(badge, () => true);
}
