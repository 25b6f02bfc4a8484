import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../lib/json.ts";
import { asDefined } from "./card-fields.ts";
import { payloadsOf, readingsOf } from "./payloads.ts";
import { type FindKey, verifyCard } from "./verify.ts";

const V1: JsonObject = {
  name: "echo",
  description: "Says back",
  supportedInterfaces: [{ url: "https://a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  version: "1",
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "e", name: "E", description: "e", tags: [], examples: [] }],
};
const V03: JsonObject = { protocolVersion: "0.3.0", name: "echo", url: "https://a", skills: [] };
const SECURED: JsonObject = {
  ...V1,
  securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "" } } },
  securityRequirements: [{ schemes: { b: { list: [] } } }],
};

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const findKey: FindKey = async () => publicKey.export({ format: "jwk" }) as JsonObject;
const encode = (text: string): string => Buffer.from(text, "utf8").toString("base64url");

function signed(card: JsonObject, text: string, head: JsonObject = { alg: "ES256", kid: "k" }): JsonObject {
  const protectedHead = encode(JSON.stringify(head));
  const bytes = Buffer.from(`${protectedHead}.${encode(text)}`, "ascii");
  const signature = sign("sha256", bytes, { key: privateKey, dsaEncoding: "ieee-p1363" }).toString(
    "base64url",
  );
  return { ...card, signatures: [{ protected: protectedHead, signature }] };
}

describe("what is signed of a card", () => {
  it("what v1.0 requires is in it, what was set is in it, anything else only if it says something", () => {
    expect(asDefined({ ...SECURED, unknown: 1, iconUrl: "", provider: {} })).toEqual({
      ...SECURED,
      iconUrl: "",
      capabilities: { streaming: true, pushNotifications: false },
      provider: { url: "", organization: "" },
      skills: [{ id: "e", name: "E", description: "e", tags: [] }],
      securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { b: {} } }],
    });
  });

  it("what is required and missing is in it as nothing", () => {
    const { skills, capabilities, name, ...rest } = V1;
    expect(asDefined(rest)).toMatchObject({ skills: [], capabilities: {}, name: "" });
  });

  it("readers who differ about what is empty each find a text of theirs", () => {
    const [strict = "", loose = "", lossy = ""] = payloadsOf(SECURED).map(({ text }) => text);
    expect(strict).toContain('"securityRequirements":[{"schemes":{"b":{}}}]');
    expect(strict).toContain('"tags":[]');
    expect(loose).not.toContain("securityRequirements");
    expect(loose).not.toContain("tags");
    expect([loose.includes("securitySchemes"), lossy.includes("securitySchemes")]).toEqual([true, false]);
    expect(payloadsOf(SECURED)[2]?.covers).toBe("v1.0 without securitySchemes");
  });

  it("an older card is signed as it stands, one that is both in each way", () => {
    expect(payloadsOf(V03)).toEqual([
      { text: '{"name":"echo","protocolVersion":"0.3.0","skills":[],"url":"https://a"}', covers: "document" },
    ]);
    const both = payloadsOf({ ...V1, ...V03, signatures: [] });
    expect(both.map(({ covers }) => covers)).toEqual(["v1.0", "v1.0", "document"]);
  });
});

describe("whether a signature is good", () => {
  it.each([
    ["v1.0", V1],
    ["v0.3", V03],
    ["with security", SECURED],
  ])("every text that may be signed is accepted: %s", async (_name, card) => {
    for (const { text, covers } of readingsOf(card)) {
      const [verdict] = await verifyCard(signed(card, text), findKey);
      expect(verdict).toEqual({ kid: "k", alg: "ES256", valid: true, covers });
    }
  });

  it("a card that was changed is not accepted, whatever was changed", async () => {
    const [{ text } = { text: "" }] = payloadsOf(V1);
    for (const change of [{ name: "other" }, { iconUrl: "" }, { skills: [] }]) {
      const [verdict] = await verifyCard({ ...signed(V1, text), ...change }, findKey);
      expect(verdict).toMatchObject({ valid: false, reason: expect.stringContaining("was changed") });
    }
  });

  it("of a card that is both, it is told whether the older members are covered", async () => {
    const both = { ...V1, ...V03 };
    const [form, , document] = payloadsOf(both);
    const whole = await verifyCard(signed(both, document?.text ?? ""), findKey);
    expect(whole[0]).toMatchObject({ valid: true, covers: "document" });
    const changed = { ...signed(both, form?.text ?? ""), url: "https://elsewhere" };
    expect((await verifyCard(changed, findKey))[0]).toMatchObject({ valid: true, covers: "v1.0" });
  });

  it.each([
    ["none", { alg: "none", kid: "k" }, "the algorithm none proves nothing here"],
    ["a shared secret", { alg: "HS256", kid: "k" }, "the algorithm HS256 proves nothing here"],
    ["no algorithm", { kid: "k" }, "the algorithm that is not named proves nothing here"],
    ["another kind than the key's", { alg: "RS256", kid: "k" }, expect.any(String)],
  ])("an algorithm is not believed: %s", async (_name, head, reason) => {
    const [{ text } = { text: "" }] = payloadsOf(V1);
    const [verdict] = await verifyCard(signed(V1, text, head), findKey);
    expect(verdict).toMatchObject({ valid: false, reason });
  });

  it("what is no signature is said to be none, and a missing key is told", async () => {
    const card = {
      ...V1,
      signatures: [1, {}, { protected: "e30", signature: 5 }, { protected: "!", signature: "" }],
    };
    const verdicts = await verifyCard(card, findKey);
    expect(verdicts.map(({ valid }) => valid)).toEqual([false, false, false, false]);
    const nobody: FindKey = () => Promise.reject(new Error("no such key"));
    const [verdict] = await verifyCard(signed(V1, "{}"), nobody);
    expect(verdict).toMatchObject({ valid: false, reason: "no such key" });
  });

  it("a card without signatures has no verdicts", async () => {
    expect(await verifyCard(V1, findKey)).toEqual([]);
  });
});
