/** An issuer of JSON Web Tokens on loopback: discovery, keys, and key rotation. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export interface Issuer {
  readonly url: string;
  /** The number of requests for its keys. */
  readonly keyRequests: () => number;
  /** A token that is valid for ten minutes by default. */
  sign(claims: JWTPayload, header?: object): Promise<string>;
  /** Signs with another key from now on, and removes the old ones. */
  rotate(): Promise<void>;
  /** While it is down, every response is 503. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  let keys = 0;
  let keyRequests = 0;
  let isDown = false;
  let current = await createKey(++keys);
  const server = createServer((request, response) => {
    const isKeys = request.url === "/keys";
    if (isKeys) keyRequests += 1;
    const body = isKeys ? { keys: [current.jwk] } : { issuer: url, jwks_uri: `${url}/keys` };
    response.writeHead(isDown ? 503 : 200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    keyRequests: () => keyRequests,
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1_000);
      return new SignJWT({ iss: url, aud: "agents", sub: "alice", iat: now, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: "ES256", kid: current.kid, ...header })
        .sign(current.key);
    },
    async rotate() {
      current = await createKey(++keys);
    },
    setDown: down => void (isDown = down),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Key {
  readonly kid: string;
  readonly key: CryptoKey;
  readonly jwk: object;
}

async function createKey(number: number): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const kid = `key-${number}`;
  return { kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}
