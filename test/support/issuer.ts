/** An issuer of signed tokens on loopback: discovery, keys, and keys that change. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export interface Issuer {
  readonly url: string;
  /** How often its keys were asked for. */
  readonly asked: () => number;
  /** A token that is good for ten minutes, unless the claims say otherwise. */
  sign(claims: JWTPayload, header?: object): Promise<string>;
  /** From now on it signs with another key; the old ones are forgotten. */
  rotate(): Promise<void>;
  /** While it is out, it answers nothing but 503. */
  setOut(out: boolean): void;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  let keys = 0;
  let asked = 0;
  let isOut = false;
  let current = await createKey(++keys);
  const server = createServer((request, response) => {
    const isKeys = request.url === "/keys";
    if (isKeys) asked += 1;
    const body = isKeys ? { keys: [current.jwk] } : { issuer: url, jwks_uri: `${url}/keys` };
    response.writeHead(isOut ? 503 : 200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked: () => asked,
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1_000);
      return new SignJWT({ iss: url, aud: "agents", sub: "alice", iat: now, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: "ES256", kid: current.kid, ...header })
        .sign(current.key);
    },
    async rotate() {
      current = await createKey(++keys);
    },
    setOut: out => void (isOut = out),
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
