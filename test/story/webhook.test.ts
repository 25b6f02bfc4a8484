import { createHmac, randomBytes } from "node:crypto";
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { remoteJwks, verifyWebhook, WebhookError, type WebhookParts } from "../../src/webhook/index.ts";
import { echo } from "../support/agents.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The receiver's side: the origin, the integrity and the age of a delivery. */

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
let server: TestServer;
let hook: Receiver;
let got: Received;
let jwks: JSONWebKeySet;

beforeAll(async () => {
  server = await serve([echo]);
  hook = await openReceiver();
  const config = { url: hook.url, secret: SECRET };
  const configuration = { taskPushNotificationConfig: config };
  await rpcResult(server.url, V1.send, V1.sendParams("grüße 🌍", {}, { configuration }));
  [got] = (await hook.got(4)) as [Received];
  jwks = (await (await fetch(`${server.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
});
afterAll(async () => {
  await server.stop();
  await hook.close();
});

const check = (more: Partial<WebhookParts>) =>
  verifyWebhook({ headers: got.headers, body: got.text, ...more });
const code = async (more: Partial<WebhookParts>): Promise<string> =>
  check(more).then(
    () => "good",
    error => (error instanceof WebhookError ? error.code : String(error)),
  );
const now = (): number => 1_000 * Number(got.headers["webhook-timestamp"]);

describe("a delivery", () => {
  it("can be verified with the keys of the server, given or fetched", async () => {
    const jwksUrl = `${server.url}/.well-known/jwks.json`;
    const checked = await check({ jwks });
    expect(checked).toEqual({ id: got.id, timestamp: now(), event: got.body });
    expect(await code({ jwksUrl })).toBe("good");
    expect(await code({ jwks: remoteJwks(jwksUrl) })).toBe("good");
    expect(await code({ jwksUrl: `${server.url}/nothing` })).toBe("key");
  });

  it("can be verified with the shared secret, or with one of several", async () => {
    expect(await code({ secret: SECRET })).toBe("good");
    expect(await code({ secret: [`whsec_${randomBytes(32).toString("base64")}`, SECRET] })).toBe("good");
    expect(await code({ secret: SECRET, jwks })).toBe("good");
  });

  it("can be read from any kind of headers and bodies", async () => {
    const headers = new Headers(got.headers as Record<string, string>);
    expect(await code({ jwks, headers, body: Buffer.from(got.text) })).toBe("good");
    const loud = Object.fromEntries(
      Object.entries(got.headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await code({ secret: SECRET, headers: loud })).toBe("good");
  });

  it("can be verified with a standard library", async () => {
    const [head, , signature] = String(got.headers["dragoman-signature"]).split(".");
    const payload = Buffer.from(got.text).toString("base64url");
    const { protectedHeader } = await compactVerify(
      `${head}.${payload}.${signature}`,
      createLocalJWKSet(jwks),
    );
    expect(protectedHeader).toMatchObject({ alg: "ES256", jti: got.id, iat: now() / 1_000 });
    const signed = `${got.id}.${got.headers["webhook-timestamp"]}.${got.text}`;
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const mac = createHmac("sha256", key).update(signed).digest("base64");
    expect(got.headers["webhook-signature"]).toBe(`v1,${mac}`);
  });

  it.each([
    ["with another body", { body: "{}" }],
    ["with another id", { headers: { "webhook-id": "other" } }],
    ["with another time", { headers: { "webhook-timestamp": "older" } }],
    [
      "with the signature of another delivery",
      { headers: { "dragoman-signature": "other", "webhook-signature": "other" } },
    ],
    ["without a signature", { headers: { "dragoman-signature": undefined, "webhook-signature": undefined } }],
  ] as const)("is refused %s", async (_, change) => {
    const { headers: changed = {}, ...rest } = change as Partial<WebhookParts>;
    const other = hook.all.at(-1)?.headers ?? {};
    const older = String(Number(got.headers["webhook-timestamp"]) - 1);
    const replaced = Object.entries(changed).map(([name, value]) => {
      if (value === "older") return [name, older];
      return [name, value === "other" && name !== "webhook-id" ? other[name] : value];
    });
    const headers = { ...got.headers, ...Object.fromEntries(replaced) };
    for (const how of [{ jwks }, { secret: SECRET }])
      expect(await code({ ...rest, headers, ...how })).toMatch(/^(signature|header)$/);
  });

  it("is refused when it is too old, or from the future", async () => {
    const toleranceMs = 60_000;
    expect(await code({ jwks, now: now() + 59_000, toleranceMs })).toBe("good");
    expect(await code({ jwks, now: now() + 61_000, toleranceMs })).toBe("time");
    expect(await code({ jwks, now: now() - 61_000, toleranceMs })).toBe("time");
    expect(await code({ jwks, headers: { ...got.headers, "webhook-timestamp": "soon" } })).toBe("time");
  });

  it("is refused with keys and secrets of another server", async () => {
    const otherServer = await serve([echo]);
    const jwksUrl = `${otherServer.url}/.well-known/jwks.json`;
    expect(await code({ jwksUrl })).toBe("key");
    const [theirs] = ((await (await fetch(jwksUrl)).json()) as JSONWebKeySet).keys;
    await otherServer.stop();
    const kid = jwks.keys[0]?.kid as string;
    expect(await code({ jwks: { keys: [{ ...theirs, kid }] } })).toBe("signature");
    expect(await code({ secret: `whsec_${randomBytes(32).toString("base64")}` })).toBe("signature");
  });

  it("cannot be verified without keys, and a JWS that names no key or another algorithm is ignored", async () => {
    await expect(check({})).rejects.toThrow(TypeError);
    const forge = (claims: object): string =>
      `${Buffer.from(JSON.stringify(claims)).toString("base64url")}..AAAA`;
    for (const claims of [{ alg: "none" }, { alg: "HS256", kid: "x" }, { alg: "ES256" }, []])
      expect(await code({ jwks, headers: { ...got.headers, "dragoman-signature": forge(claims) } })).toBe(
        "signature",
      );
    expect(await code({ jwks, headers: { ...got.headers, "dragoman-signature": "x" } })).toBe("signature");
  });
});
