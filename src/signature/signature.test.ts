import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../lib/json.ts";
import { toAcceptedPayloads, toCanonicalCard, toSignedPayloads } from "./payloads.ts";
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

describe("the payload of a card", () => {
  it("has required fields, fields with presence that are set, and other fields unless they are empty", () => {
    expect(toCanonicalCard({ ...SECURED, unknown: 1, iconUrl: "", provider: {} })).toEqual({
      ...SECURED,
      iconUrl: "",
      capabilities: { streaming: true, pushNotifications: false },
      provider: { url: "", organization: "" },
      skills: [{ id: "e", name: "E", description: "e", tags: [] }],
      securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { b: {} } }],
    });
  });

  it("has an empty value for a required field that is missing", () => {
    const { skills, capabilities, name, ...rest } = V1;
    expect(toCanonicalCard(rest)).toMatchObject({ skills: [], capabilities: {}, name: "" });
  });

  it("comes with and without empty values, because verifiers differ", () => {
    const [strict = "", loose = "", lossy = ""] = toSignedPayloads(SECURED).map(({ text }) => text);
    expect(strict).toContain('"securityRequirements":[{"schemes":{"b":{}}}]');
    expect(strict).toContain('"tags":[]');
    expect(loose).not.toContain("securityRequirements");
    expect(loose).not.toContain("tags");
    expect([loose.includes("securitySchemes"), lossy.includes("securitySchemes")]).toEqual([true, false]);
    expect(toSignedPayloads(SECURED)[2]?.covers).toBe("v1.0 without securitySchemes");
  });

  it("is the whole document for an older card, and both for a hybrid card", () => {
    expect(toSignedPayloads(V03)).toEqual([
      { text: '{"name":"echo","protocolVersion":"0.3.0","skills":[],"url":"https://a"}', covers: "document" },
    ]);
    const both = toSignedPayloads({ ...V1, ...V03, signatures: [] });
    expect(both.map(({ covers }) => covers)).toEqual(["v1.0", "v1.0", "document"]);
  });
});

describe("verifying a card", () => {
  it.each([
    ["v1.0", V1],
    ["v0.3", V03],
    ["with security", SECURED],
  ])("accepts every payload that may be signed: %s", async (_name, card) => {
    for (const { text, covers } of toAcceptedPayloads(card)) {
      const [verdict] = await verifyCard(signed(card, text), findKey);
      expect(verdict).toEqual({ kid: "k", alg: "ES256", valid: true, covers });
    }
  });

  it("rejects a card that was changed", async () => {
    const [{ text } = { text: "" }] = toSignedPayloads(V1);
    for (const change of [{ name: "other" }, { iconUrl: "" }, { skills: [] }]) {
      const [verdict] = await verifyCard({ ...signed(V1, text), ...change }, findKey);
      expect(verdict).toMatchObject({ valid: false, reason: expect.stringContaining("was changed") });
    }
  });

  it("reports whether the older members of a hybrid card are covered", async () => {
    const both = { ...V1, ...V03 };
    const [form, , document] = toSignedPayloads(both);
    const whole = await verifyCard(signed(both, document?.text ?? ""), findKey);
    expect(whole[0]).toMatchObject({ valid: true, covers: "document" });
    const changed = { ...signed(both, form?.text ?? ""), url: "https://elsewhere" };
    expect((await verifyCard(changed, findKey))[0]).toMatchObject({ valid: true, covers: "v1.0" });
  });

  it.each([
    ["none", { alg: "none", kid: "k" }, "Unsupported algorithm: none"],
    ["a shared secret", { alg: "HS256", kid: "k" }, "Unsupported algorithm: HS256"],
    ["no algorithm", { kid: "k" }, "The signature names no algorithm"],
    ["another kind than the key's", { alg: "RS256", kid: "k" }, expect.any(String)],
  ])("rejects an algorithm: %s", async (_name, head, reason) => {
    const [{ text } = { text: "" }] = toSignedPayloads(V1);
    const [verdict] = await verifyCard(signed(V1, text, head), findKey);
    expect(verdict).toMatchObject({ valid: false, reason });
  });

  it("reports values that are not signatures, and missing keys", async () => {
    const card = {
      ...V1,
      signatures: [1, {}, { protected: "e30", signature: 5 }, { protected: "!", signature: "" }],
    };
    const verdicts = await verifyCard(card, findKey);
    expect(verdicts.map(({ valid }) => valid)).toEqual([false, false, false, false]);
    const noKey: FindKey = () => Promise.reject(new Error("no such key"));
    const [verdict] = await verifyCard(signed(V1, "{}"), noKey);
    expect(verdict).toMatchObject({ valid: false, reason: "no such key" });
  });

  it("has no verdicts for a card without signatures", async () => {
    expect(await verifyCard(V1, findKey)).toEqual([]);
  });
});
