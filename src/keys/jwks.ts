import type { Endpoint, Signer } from "../ports/index.ts";

/** The public halves of the keys, where those who check our signatures look for them (RFC 7517 §5). */
export const createKeySet = (signer: Signer, path: string): Endpoint => ({
  verb: "GET",
  path,
  serve: () => ({
    status: 200,
    headers: { "Content-Type": "application/jwk-set+json", "X-Content-Type-Options": "nosniff" },
    text: JSON.stringify(signer.jwks()),
    cacheable: true,
  }),
});
