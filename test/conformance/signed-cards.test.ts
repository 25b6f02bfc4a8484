import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/lib/json.ts";
import { verifyCard } from "../../src/signature/verify.ts";
import { echo } from "../support/agents.ts";
import { serveGuarded } from "../support/callers.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * docs/dialects/v1.md#cards: the official client 1.3.0 verifies the signatures of our cards, and we verify
 * its signatures.
 */

const CARD = "/.well-known/agent-card.json";
let server: TestServer;
beforeAll(async () => {
  server = await serve([{ ...echo, extendedCard: { description: "For those who are known" } }], {
    signCards: true,
  });
});
afterAll(() => server.stop());

const read = async (path: string, version?: string): Promise<JsonObject> =>
  (
    await fetch(`${server.url}${path}`, { headers: version ? { "a2a-version": version } : {} })
  ).json() as Promise<JsonObject>;

async function findKey(kid: string, jku?: string): Promise<JWK> {
  expect(jku).toBe(`${server.url}/.well-known/jwks.json`);
  const { keys } = (await (await fetch(jku as string)).json()) as { keys: JWK[] };
  return keys.find(key => key.kid === kid) as JWK;
}

describe("the official client 1.3.0", () => {
  it.each([
    ["a v1.0 card", "1.0"],
    ["a hybrid card", undefined],
  ])("accepts the signature of %s", async (_name, version) => {
    const card = AgentCard.fromJSON(await read(CARD, version));
    await verifyAgentCardSignature(findKey)(card);
  });

  it("rejects a card that was changed on the way", async () => {
    const card = AgentCard.fromJSON({ ...(await read(CARD, "1.0")), description: "Another" });
    await expect(verifyAgentCardSignature(findKey)(card)).rejects.toThrow("No valid signatures");
  });

  it("accepts the card of a server with authentication", async () => {
    const guarded = await serveGuarded([echo], { signCards: true });
    try {
      const { url } = guarded;
      for (const headers of [{ "a2a-version": "1.0" }, {}] as Record<string, string>[]) {
        const card = (await (await fetch(`${url}${CARD}`, { headers })).json()) as JsonObject;
        const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: JWK[] };
        await verifyAgentCardSignature(async () => keys[0] as JWK)(AgentCard.fromJSON(card));
        const verdicts = await verifyCard(card, async () => keys[0] as JsonObject);
        expect(verdicts.every(({ valid }) => valid)).toBe(true);
      }
    } finally {
      await guarded.stop();
    }
  });

  it("verifies the extended card when configured", async () => {
    const client = await new ClientFactory().createFromUrl(server.url);
    const card = await client.getAgentCard(undefined, verifyAgentCardSignature(findKey));
    expect(card.description).toBe("For those who are known");
  });
});

describe("a card that the official client 1.3.0 signed", () => {
  it("is valid here, and invalid when it is changed", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const head = { alg: "ES256", kid: "theirs", typ: "JOSE" };
    const card = AgentCard.fromJSON(await read(CARD, "1.0"));
    const signed = await generateAgentCardSignature(privateKey, head)({ ...card, signatures: [] });
    const json = AgentCard.toJSON(signed) as JsonObject;
    const theirs = async (): Promise<JsonObject> => (await exportJWK(publicKey)) as JsonObject;
    expect(await verifyCard(json, theirs)).toEqual([
      { kid: "theirs", alg: "ES256", valid: true, covers: "document" },
    ]);
    const [verdict] = await verifyCard({ ...json, version: "9" }, theirs);
    expect(verdict?.valid).toBe(false);
  });
});
