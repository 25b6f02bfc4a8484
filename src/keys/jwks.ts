import type { Endpoint, Signer } from "../ports/index.ts";

/** The JSON Web Key Set of the server (RFC 7517 §5), for verifying its signatures. */
export const createJwksEndpoint = (signer: Signer, path: string): Endpoint => ({
  verb: "GET",
  path,
  serve: () => ({
    status: 200,
    headers: { "Content-Type": "application/jwk-set+json", "X-Content-Type-Options": "nosniff" },
    text: JSON.stringify(signer.jwks()),
    cacheable: true,
  }),
});
