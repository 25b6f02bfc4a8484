import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { flattenedVerify, importJWK } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { echo } from "../support/agents.ts";
import { type GuardedServer, serveGuarded } from "../support/callers.ts";
import type { Loose } from "../support/official-dialects.ts";

/** docs/dialects/catalog.md: what a reader of a catalog verifies, by its specification. */

const open: AgentDefinition = { ...echo, name: "open", access: "public" };
let guarded: GuardedServer;
let known: Record<string, string>;
beforeAll(async () => {
  guarded = await serveGuarded([echo, open], { signCards: true, auth: ["tokens"] });
  known = (await guarded.issue("alice")).headers;
});
afterAll(() => guarded.stop());

const CATALOG = "/.well-known/ai-catalog.json";
const DID = "/.well-known/did.json";
const digestOf = async (response: Response): Promise<string> =>
  `sha256:${createHash("sha256")
    .update(await response.bytes())
    .digest("hex")}`;
const get = (path: string, headers = {}): Promise<Response> => fetch(`${guarded.url}${path}`, { headers });
const entriesFor = async (headers = {}): Promise<Loose[]> =>
  ((await (await get(CATALOG, headers)).json()) as Loose).entries;

describe("the AI catalog", () => {
  it("names the digest of each card as it is served; an address that is no domain signs nothing", async () => {
    const entries = await entriesFor(known);
    expect(entries.map(({ displayName }) => displayName)).toEqual(["echo", "open"]);
    for (const { url, digest, trustManifests } of entries) {
      expect(digest).toBe(await digestOf(await fetch(url, { headers: known })));
      expect(trustManifests).toBeUndefined();
    }
    expect((await get(DID)).status).toBe(404);
  });

  it("of a domain is signed by the DID of the domain, with the keys of the cards", async () => {
    const server = await serveGuarded([open], { signCards: true, publicUrl: "https://agents.example" });
    const read = async (path: string): Promise<Loose> => (await fetch(`${server.url}${path}`)).json();
    const did = await read(DID);
    const [{ identifier, version, url, type, digest, trustManifests }] = (await read(CATALOG)).entries;
    const card = await fetch(url.replace("https://agents.example", server.url));
    await server.stop();
    expect(digest).toBe(await digestOf(card));
    expect(did.id).toBe("did:web:agents.example");
    const [{ contributor, subject, signature }] = trustManifests;
    const { jws, ...claims } = signature;
    expect(contributor).toBe(did.id);
    expect(subject).toEqual({ identifier, version, url, type, digest });
    expect(claims).toEqual({ signer: did.id, profile: "did-web-v1", issuedAt: expect.any(String) });
    const [head, nothing, proof] = jws.split(".");
    expect(nothing).toBe("");
    const manifest = { contributor, subject, signature: claims };
    const payload = Buffer.from(canonicalize(manifest) as string).toString("base64url");
    const keyOf = async ({ kid, typ }: Loose) => {
      expect(typ).toBe("ai-catalog-trust-manifest+jws");
      expect(did.assertionMethod).toContain(kid);
      const method = did.verificationMethod.find(({ id }: Loose) => id === kid);
      expect(method.controller).toBe(did.id);
      return importJWK(method.publicKeyJwk, "ES256");
    };
    const signed = { protected: head, payload, signature: proof };
    await flattenedVerify(signed, keyOf as never, { algorithms: ["ES256"] });
    const other = { ...signed, payload: `${payload.slice(0, -2)}aa` };
    await expect(flattenedVerify(other, keyOf as never)).rejects.toThrow();
  });

  it("is the same document as long as no card changes", async () => {
    const [first, second] = [await get(CATALOG), await get(CATALOG)];
    expect(first.headers.get("etag")).toBe(second.headers.get("etag"));
    expect(first.headers.get("content-type")).toBe("application/ai-catalog+json");
  });

  it("lists only what the caller may see, and so does the API catalog", async () => {
    const limited = (await guarded.issue("bob", { agents: ["open"] })).headers;
    expect((await entriesFor(limited)).map(({ displayName }) => displayName)).toEqual(["open"]);
    const { linkset } = (await (await get("/.well-known/api-catalog", limited)).json()) as Loose;
    expect(linkset.map(({ anchor }: Loose) => anchor)).toEqual([`${guarded.url}/agents/open`]);
  });

  it("the list of agents leads to both catalogs, and they lead to each other", async () => {
    for (const path of ["/", "/agents", CATALOG, "/.well-known/api-catalog"]) {
      const link = (await get(path, known)).headers.get("link");
      expect(link).toContain(`<${CATALOG}>; rel="ai-catalog"`);
      expect(link).toContain('</.well-known/api-catalog>; rel="api-catalog"');
    }
  });

  it("has no digests for an address that is not the server's own", async () => {
    const server = await serveGuarded([open], { signCards: true, trustProxy: true });
    const headers = { "x-forwarded-host": "evil.example" };
    const { entries } = (await (await fetch(`${server.url}${CATALOG}`, { headers })).json()) as Loose;
    await server.stop();
    expect(entries[0].url).toContain("evil.example");
    expect(entries[0].digest).toBeUndefined();
  });
});
