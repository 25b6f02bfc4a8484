import { createHash, randomBytes } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createApiKeyAuth } from "../../src/auth/api-key-auth.ts";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { issueToken } from "../../src/auth/issue-token.ts";
import { createJwtAuth } from "../../src/auth/jwt-auth.ts";
import { createMtlsAuth } from "../../src/auth/mtls-auth.ts";
import { createTokenAuth } from "../../src/auth/token-auth.ts";
import type { Identity, JwtIssuer } from "../../src/model/index.ts";
import type { Caller } from "../../src/ports/index.ts";
import { createMemoryTokenStore } from "../../src/store/memory/token-store.ts";
import {
  ALICE,
  type AuthMethodUnderTest,
  authContract,
  authenticatorContract,
  createTestCatalog,
  faultOf,
  IDENTITIES,
  toCaller,
} from "../../src/testing/contracts/authenticator.ts";
import { bearer } from "../support/callers.ts";
import { runContract } from "../support/contract.ts";
import { startIssuer } from "../support/issuer.ts";

const randomHex = (bytes: number): string => randomBytes(bytes).toString("hex");
const shown = (secret: string): Partial<Caller> => ({ headers: bearer(secret) });

async function tokens(): Promise<AuthMethodUnderTest> {
  const tokens = createMemoryTokenStore();
  const parts = { tokens, wallTime: Date.now, randomHex };
  const make = (identity: Identity, expiresAt?: number) =>
    issueToken(parts, { ...identity, name: undefined, expiresAt });
  const revoked = await make(IDENTITIES[0] as Identity);
  await tokens.revoke(revoked.token.id, Date.now());
  const expired = await make(IDENTITIES[0] as Identity, Date.now() - 1);
  return {
    method: createTokenAuth(parts),
    show: async identity => shown((await make(identity)).secret),
    bad: {
      revoked: shown(revoked.secret),
      expired: shown(expired.secret),
      unknown: shown(`drg_${"x".repeat(43)}`),
      "cut off": shown(revoked.secret.slice(0, -1)),
      twice: { headers: { authorization: `Bearer ${revoked.secret}, Bearer ${revoked.secret}` } },
      "of another type": shown("abc"),
      empty: shown(""),
    },
    close: async () => {},
  };
}

const ISSUER: Omit<JwtIssuer, "issuer"> = {
  jwksUrl: undefined,
  audience: ["agents"],
  algorithms: ["ES256"],
  skewSeconds: 5,
  claims: {
    principal: "sub",
    prefix: "",
    tenant: ["org", "tenants"],
    tenants: [],
    scopes: "scope",
    grants: [],
    scopeNames: { "a2a.read": "read" },
    agents: "https://dragoman.example/agents",
  },
};

async function jwt(): Promise<AuthMethodUnderTest> {
  const issuer = await startIssuer();
  const other = await startIssuer();
  const toClaims = ({ principal, tenants, grants, agents }: Identity): JWTPayload => ({
    sub: principal,
    org: { tenants },
    scope: grants.map(grant => (grant === "read" ? "a2a.read" : grant)).join(" "),
    "https://dragoman.example/agents": agents ?? "*",
  });
  const claims = toClaims(IDENTITIES[0] as Identity);
  const now = Math.floor(Date.now() / 1_000);
  const bad = {
    expired: issuer.sign({ ...claims, exp: now - 60 }),
    "not yet valid": issuer.sign({ ...claims, nbf: now + 60 }),
    "for ever": issuer.sign({ ...claims, exp: undefined } as unknown as JWTPayload),
    "for another audience": issuer.sign({ ...claims, aud: "others" }),
    "of another issuer": other.sign(claims),
    "of another issuer with this issuer's name": other.sign({ ...claims, iss: issuer.url }),
    "with an unknown key id": issuer.sign(claims, { kid: "made-up" }),
    "without a tenant": issuer.sign({ ...claims, org: {} }),
    "without a subject": issuer.sign({ ...claims, sub: undefined } as unknown as JWTPayload),
    "with line breaks in the subject": issuer.sign({ ...claims, sub: "al\nice" }),
    unsigned: `${part({ alg: "none" })}.${part({ ...claims, iss: issuer.url, aud: "agents", exp: now + 60 })}.`,
    "signed with the public key as a shared secret": confused(issuer.url, claims),
    "no token": "a.b.c",
    "too long": `a.${"b".repeat(10_000)}.c`,
  };
  const made = await Promise.all(Object.entries(bad).map(async ([why, one]) => [why, shown(await one)]));
  return {
    method: createJwtAuth({
      issuers: [{ ...ISSUER, issuer: issuer.url }],
      fetch,
      wallTime: Date.now,
      ticks: () => performance.now(),
    }),
    show: async identity => shown(await issuer.sign({ ...toClaims(identity) })),
    bad: Object.fromEntries(made),
    async close() {
      await issuer.close();
      await other.close();
    },
  };
}

const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");

/** Key confusion: a public key must not be used as an HMAC secret. */
const confused = (iss: string, claims: object): Promise<string> =>
  new SignJWT({ ...claims, iss, aud: "agents" })
    .setProtectedHeader({ alg: "HS256", kid: "key-1" })
    .setExpirationTime("10m")
    .sign(new TextEncoder().encode("the public key of the issuer, which is public"));

const keyOf = ({ principal }: Identity): string => `the key of ${principal}`;

async function apiKeys(): Promise<AuthMethodUnderTest> {
  const keys = IDENTITIES.map(identity => ({
    ...identity,
    hash: createHash("sha256").update(keyOf(identity)).digest("hex"),
  }));
  return {
    method: createApiKeyAuth({ keys, header: "X-API-Key" }),
    show: identity => ({ headers: { "x-api-key": keyOf(identity) } }),
    bad: {
      unknown: { headers: { "x-api-key": "another key" } },
      empty: { headers: { "x-api-key": "" } },
      twice: {
        headers: { "x-api-key": `${keyOf(IDENTITIES[0] as Identity)}, ${keyOf(IDENTITIES[0] as Identity)}` },
      },
    },
    close: async () => {},
  };
}

async function mtls(): Promise<AuthMethodUnderTest> {
  const [first, second] = IDENTITIES as [Identity, Identity];
  const owners = [
    { ...first, fingerprint: "aa", commonName: undefined },
    { ...second, fingerprint: undefined, commonName: "bob's machine" },
  ];
  const certificates = new Map([
    [first.principal, { fingerprint: "aa", commonName: "whatever" }],
    [second.principal, { fingerprint: "bb", commonName: "bob's machine" }],
  ]);
  return {
    method: createMtlsAuth({ owners }),
    show: identity => ({ certificate: () => certificates.get(identity.principal) }),
    // A certificate without an identity is ignored.
    bad: {},
    close: async () => {},
  };
}

runContract("authentication with tokens", authContract(tokens));
runContract("authentication with jwt", authContract(jwt));
runContract("authentication with api-key", authContract(apiKeys));
runContract("authentication with mtls", authContract(mtls));

for (const at of [0, 1, 2, 3])
  runContract(
    `authentication with all methods, with credentials of method ${at + 1}`,
    authenticatorContract(async () => {
      const all = await Promise.all([tokens, jwt, apiKeys, mtls].map(create => create()));
      const one = all[at] as AuthMethodUnderTest;
      return {
        authenticator: createAuthenticator({
          methods: all.map(({ method }) => method),
          catalog: createTestCatalog(),
        }),
        show: one.show,
        bad: Object.assign({}, ...all.map(({ bad }) => bad)),
        close: async () => void (await Promise.all(all.map(({ close }) => close()))),
      };
    }),
  );

describe("credentials that are no longer valid", () => {
  it("are noticed by all open streams, however often they are checked", async () => {
    const tokens = createMemoryTokenStore();
    const parts = { tokens, wallTime: Date.now, randomHex };
    const authenticator = createAuthenticator({
      methods: [createTokenAuth(parts)],
      catalog: createTestCatalog(),
    });
    const options = { ...ALICE, name: undefined, expiresAt: undefined };
    const [one, other] = [await issueToken(parts, options), await issueToken(parts, options)];
    const principal = authenticator.requirePrincipal(
      await authenticator.authenticate(toCaller(shown(one.secret))),
    );
    const staying = authenticator.requirePrincipal(
      await authenticator.authenticate(toCaller(shown(other.secret))),
    );
    const notified: string[] = [];
    authenticator.onExpire(principal, fault => notified.push(`first: ${fault.code}`));
    authenticator.onExpire(principal, fault => notified.push(`second: ${fault.code}`));
    authenticator.onExpire(principal, () => notified.push("removed listener"))();
    authenticator.onExpire(staying, () => notified.push("valid principal"));
    await tokens.revoke(one.token.id, Date.now());
    await expect
      .poll(() => notified.slice(0, 2))
      .toEqual(["first: unauthenticated", "second: unauthenticated"]);
    expect(notified.filter(text => text.endsWith("principal") || text.endsWith("listener"))).toEqual([]);
    for (let times = 0; times < 2; times++) {
      expect(await principal.isValid()).toBe(false);
      expect(faultOf(() => authenticator.checkPrincipal(principal))).toMatchObject({
        code: "unauthenticated",
      });
      expect(await staying.isValid()).toBe(true);
    }
    expect(faultOf(() => authenticator.authenticate(toCaller(shown(one.secret))))?.message).toBe(
      "The token was revoked",
    );
  });
});
