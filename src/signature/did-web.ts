import type { JsonObject } from "../lib/json.ts";
import type { Endpoint, Signer } from "../ports/index.ts";

const DID_PATH = "/.well-known/did.json";

/** https, without a port and a path, which the document of a root DID does not have. */
const DOMAIN_URL = /^https:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*)$/;

/** The identity of a server whose address is a domain (the method did:web); undefined: it has none. */
export function toDid(base: string): string | undefined {
  const domain = DOMAIN_URL.exec(base)?.[1];
  return domain === undefined ? undefined : `did:web:${domain}`;
}

/** The id of a key in the DID document. */
export const toKeyUrl = (did: string, kid: string): string => `${did}#${kid}`;

export interface DidDocumentParts {
  readonly signer: Signer;
  readonly isOwnBase: (base: string) => boolean;
}

/** The DID document (DID Core §5): the keys that may sign statements of this server. */
export const createDidEndpoint = ({ signer, isOwnBase }: DidDocumentParts): Endpoint => ({
  verb: "GET",
  path: DID_PATH,
  serve({ base }) {
    const did = isOwnBase(base()) ? toDid(base()) : undefined;
    if (did === undefined) return NO_DID;
    return {
      status: 200,
      headers: { "Content-Type": "application/did+json", "X-Content-Type-Options": "nosniff" },
      text: JSON.stringify(toDocument(did, signer)),
      cacheable: true,
    };
  },
});

const NO_DID = {
  status: 404,
  headers: { "Content-Type": "application/json" },
  text: JSON.stringify({ error: "The address of this server is not a domain: it has no DID" }),
};

function toDocument(did: string, signer: Signer): JsonObject {
  const methods = signer.jwks().keys.map(key => ({
    id: toKeyUrl(did, String(key.kid)),
    type: "JsonWebKey",
    controller: did,
    publicKeyJwk: key,
  }));
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  };
}
