import { createHash, randomBytes } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createApiKeyProof } from "../../src/auth/api-key-auth.ts";
import { createGuard } from "../../src/auth/authenticator.ts";
import { issueToken } from "../../src/auth/issue-token.ts";
import { createJwtProof } from "../../src/auth/jwt-auth.ts";
import { createMtlsProof } from "../../src/auth/mtls-auth.ts";
import { createTokenProof } from "../../src/auth/token-auth.ts";
import type { Identity, JwtIssuer } from "../../src/model/index.ts";
import type { AuthMethod, Caller } from "../../src/ports/index.ts";
import { createMemoryTokenBook } from "../../src/store/memory/tokens.ts";
import { bearer } from "../support/callers.ts";
import { startIssuer } from "../support/issuer.ts";
import {
  ALICE,
  BADGES,
  callerOf,
  createCast,
  faultOf,
  type GuardUnderTest,
  guardContract,
} from "./guard.contract.ts";

interface ProofUnderTest extends Pick<GuardUnderTest, "show" | "bad" | "close"> {
  readonly proof: AuthMethod;
}

const chance = (bytes: number): string => randomBytes(bytes).toString("hex");
const shown = (secret: string): Partial<Caller> => ({ headers: bearer(secret) });

async function tokens(): Promise<ProofUnderTest> {
  const book = createMemoryTokenBook();
  const parts = { book, wallTime: Date.now, chance };
  const make = (badge: Identity, expiresAt?: number) =>
    issueToken(parts, { ...badge, name: undefined, expiresAt });
  const revoked = await make(BADGES[0] as Identity);
  await book.revoke(revoked.token.id, Date.now());
  const expired = await make(BADGES[0] as Identity, Date.now() - 1);
  return {
    proof: createTokenProof(parts),
    show: async badge => shown((await make(badge)).secret),
    bad: {
      revoked: shown(revoked.secret),
      expired: shown(expired.secret),
      unknown: shown(`drg_${"x".repeat(43)}`),
      "cut off": shown(revoked.secret.slice(0, -1)),
      twice: { headers: { authorization: `Bearer ${revoked.secret}, Bearer ${revoked.secret}` } },
      "of another kind": shown("abc"),
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
    words: { "a2a.read": "read" },
    agents: "https://dragoman.example/agents",
  },
};

async function jwt(): Promise<ProofUnderTest> {
  const issuer = await startIssuer();
  const other = await startIssuer();
  const toClaims = ({ principal, tenants, grants, agents }: Identity): JWTPayload => ({
    sub: principal,
    org: { tenants },
    scope: grants.map(grant => (grant === "read" ? "a2a.read" : grant)).join(" "),
    "https://dragoman.example/agents": agents ?? "*",
  });
  const claims = toClaims(BADGES[0] as Identity);
  const now = Math.floor(Date.now() / 1_000);
  const bad = {
    expired: issuer.sign({ ...claims, exp: now - 60 }),
    "not yet valid": issuer.sign({ ...claims, nbf: now + 60 }),
    "for ever": issuer.sign({ ...claims, exp: undefined } as unknown as JWTPayload),
    "for somebody else": issuer.sign({ ...claims, aud: "others" }),
    "of another issuer": other.sign(claims),
    "of another issuer in the name of this one": other.sign({ ...claims, iss: issuer.url }),
    "with a key that is not there": issuer.sign(claims, { kid: "made-up" }),
    "without a tenant": issuer.sign({ ...claims, org: {} }),
    "without a subject": issuer.sign({ ...claims, sub: undefined } as unknown as JWTPayload),
    "with a subject that breaks lines": issuer.sign({ ...claims, sub: "al\nice" }),
    unsigned: `${part({ alg: "none" })}.${part({ ...claims, iss: issuer.url, aud: "agents", exp: now + 60 })}.`,
    "signed with the public key as a shared secret": confused(issuer.url, claims),
    "no token": "a.b.c",
    "too long": `a.${"b".repeat(10_000)}.c`,
  };
  const made = await Promise.all(Object.entries(bad).map(async ([why, one]) => [why, shown(await one)]));
  return {
    proof: createJwtProof({
      issuers: [{ ...ISSUER, issuer: issuer.url }],
      fetch,
      wallTime: Date.now,
      ticks: () => performance.now(),
    }),
    show: async badge => shown(await issuer.sign({ ...toClaims(badge) })),
    bad: Object.fromEntries(made),
    async close() {
      await issuer.close();
      await other.close();
    },
  };
}

const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");

/** Key confusion: a public key is no secret. */
const confused = (iss: string, claims: object): Promise<string> =>
  new SignJWT({ ...claims, iss, aud: "agents" })
    .setProtectedHeader({ alg: "HS256", kid: "key-1" })
    .setExpirationTime("10m")
    .sign(new TextEncoder().encode("the public key of the issuer, as everybody can read it"));

const keyOf = ({ principal }: Identity): string => `the key of ${principal}`;

async function apiKeys(): Promise<ProofUnderTest> {
  const keys = BADGES.map(badge => ({
    ...badge,
    hash: createHash("sha256").update(keyOf(badge)).digest("hex"),
  }));
  return {
    proof: createApiKeyProof({ keys, header: "X-API-Key" }),
    show: badge => ({ headers: { "x-api-key": keyOf(badge) } }),
    bad: {
      unknown: { headers: { "x-api-key": "another key" } },
      empty: { headers: { "x-api-key": "" } },
      twice: { headers: { "x-api-key": `${keyOf(BADGES[0] as Identity)}, ${keyOf(BADGES[0] as Identity)}` } },
    },
    close: async () => {},
  };
}

async function mtls(): Promise<ProofUnderTest> {
  const [first, second] = BADGES as [Identity, Identity];
  const owners = [
    { ...first, fingerprint: "aa", commonName: undefined },
    { ...second, fingerprint: undefined, commonName: "bob's machine" },
  ];
  const certificates = new Map([
    [first.principal, { fingerprint: "aa", commonName: "whatever" }],
    [second.principal, { fingerprint: "bb", commonName: "bob's machine" }],
  ]);
  return {
    proof: createMtlsProof({ owners }),
    show: badge => ({ certificate: () => certificates.get(badge.principal) }),
    // A certificate that is nobody's says nothing.
    bad: {},
    close: async () => {},
  };
}

const alone = (create: () => Promise<ProofUnderTest>) => async (): Promise<GuardUnderTest> => {
  const under = await create();
  return { ...under, guard: createGuard({ proofs: [under.proof], catalog: createCast() }) };
};

guardContract("tokens", alone(tokens));
guardContract("jwt", alone(jwt));
guardContract("api-key", alone(apiKeys));
guardContract("mtls", alone(mtls));

for (const at of [0, 1, 2, 3])
  guardContract(`all of them, and callers show no. ${at + 1}`, async () => {
    const all = await Promise.all([tokens, jwt, apiKeys, mtls].map(create => create()));
    const one = all[at] as ProofUnderTest;
    return {
      guard: createGuard({ proofs: all.map(({ proof }) => proof), catalog: createCast() }),
      show: one.show,
      bad: Object.assign({}, ...all.map(({ bad }) => bad)),
      close: async () => void (await Promise.all(all.map(({ close }) => close()))),
    };
  });

describe("credentials that are no longer good", () => {
  it("are seen by all who still read with them, however often they are asked about", async () => {
    const book = createMemoryTokenBook();
    const parts = { book, wallTime: Date.now, chance };
    const guard = createGuard({ proofs: [createTokenProof(parts)], catalog: createCast() });
    const wish = { ...ALICE, name: undefined, expiresAt: undefined };
    const [one, other] = [await issueToken(parts, wish), await issueToken(parts, wish)];
    const principal = guard.requirePrincipal(await guard.authenticate(callerOf(shown(one.secret))));
    const staying = guard.requirePrincipal(await guard.authenticate(callerOf(shown(other.secret))));
    const heard: string[] = [];
    guard.onExpire(principal, fault => heard.push(`first: ${fault.code}`));
    guard.onExpire(principal, fault => heard.push(`second: ${fault.code}`));
    guard.onExpire(principal, () => heard.push("who has left"))();
    guard.onExpire(staying, () => heard.push("who is still known"));
    await book.revoke(one.token.id, Date.now());
    await expect.poll(() => heard.slice(0, 2)).toEqual(["first: unauthenticated", "second: unauthenticated"]);
    expect(heard.filter(text => text.startsWith("who"))).toEqual([]);
    for (let times = 0; times < 2; times++) {
      expect(await principal.isValid()).toBe(false);
      expect(faultOf(() => guard.checkPrincipal(principal))).toMatchObject({ code: "unauthenticated" });
      expect(await staying.isValid()).toBe(true);
    }
    expect(faultOf(() => guard.authenticate(callerOf(shown(one.secret))))?.message).toBe(
      "The token was revoked",
    );
  });
});
