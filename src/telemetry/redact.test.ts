import { expect, it } from "vitest";
import { redact, scrub } from "./redact.ts";

const SECRETS: readonly (readonly [string, string])[] = [
  ["Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"],
  ["postgres://user:hunter2@db/tasks", "postgres://[redacted]@db/tasks"],
  ['{"api_key":"k-123456"}', '{"api_key":"[redacted]"}'],
  ["?token=abcdef&x=1", "?token=[redacted]&x=1"],
  ["got eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdef here", "got [redacted] here"],
  ["key sk-abcdefghijklmnop1234", "key [redacted]"],
  [`token create printed drg_${"a1B_-".repeat(9)} once`, "token create printed [redacted] once"],
  ["x_drg_abcdefgh12345678", "x_[redacted]"],
  ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/==", "[redacted]"],
  ["x-api-key: k-123456", "x-api-key: [redacted]"],
  ["client_secret=hunter22&grant_type=x", "client_secret=[redacted]&grant_type=x"],
  ['{"refresh_token":"two words, a comma"}', '{"refresh_token":"[redacted]"}'],
  ['body: "{\\"password\\":\\"hunter2\\",\\"a\\":1}"', 'body: "{\\"password\\":\\"[redacted]\\",\\"a\\":1}"'],
  ["password='correct horse'", "password='[redacted]'"],
  ["host=db password=hunter2 user=me", "host=db password=[redacted] user=me"],
  ["Proxy-Authorization: abcdefgh", "Proxy-Authorization: [redacted]"],
  ["authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted]"],
  ["authorization: Digest abcdefgh", "authorization: Digest [redacted]"],
  ["Set-Cookie: sid=abc; Path=/", "Set-Cookie: [redacted]"],
  ["GET /oauth/callback?code=abc123&state=v1.abc", "GET /oauth/callback?code=[redacted]&state=[redacted]"],
  ["postgres://user:p@ss/wo#rd@db:5432/tasks", "postgres://[redacted]@db:5432/tasks"],
  ["nats://s3cr3t@bus:4222", "nats://[redacted]@bus:4222"],
  ["a nats://u:p@a:1,nats://u:p@b:1 b", "a nats://[redacted]@b:1 b"],
  ["at https://u:p@a/x,https://u:p@b/y", "at https://[redacted]@a/x,https://[redacted]@b/y"],
  ["https://abcdefghijklmnopqrst@git.example/x", "https://[redacted]@git.example/x"],
  ["mongodb+srv://u:p@db/x", "mongodb+srv://[redacted]@db/x"],
  [
    "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----[redacted]-----END EC PRIVATE KEY-----",
  ],
  [`{"kty":"EC","d":"${"x1".repeat(22)}"}`, '{"kty":"EC","d":"[redacted]"}'],
  [`{"sealing":[{"id":"a","key":"${"x1".repeat(22)}"}]}`, '{"sealing":[{"id":"a","key":"[redacted]"}]}'],
  ["lsv2_pt_abcdefghijklmnop_1234", "[redacted]"],
];

/** Words that only look a little like it. */
const PLAIN = [
  "4,000 tokens were spent",
  "a plain sentence",
  "Basic authentication is not supported",
  "Bearer authentication.",
  "bearer tokens, and basic configuration",
  "authorization: required",
  "the token was revoked",
  "secrets are sealed; no password is kept",
  "code: ECONNREFUSED, state=working",
  "see https://agents.example/@ada/profile?x=1 and ssh://git@git.example/repo",
  "call http://127.0.0.1:2024/agents/echo, write to ada@example.org",
  "risk-assessment-of-the-whole-project",
  "key 0199a1b2-7c3d-7000-8000-000000000000",
  "eyJ is how JSON begins in base64",
];
it.each(PLAIN)("stays: %s", text => {
  expect(scrub(text)).toBe(text);
});

/** Each is cheap to write and would be dear to look at with a careless expression. */
const HOSTILE = [
  "Bearer ",
  "Bearer \n",
  "authorization: ",
  "cookie:\n",
  "token='",
  'token="',
  "token= ",
  "eyJ-",
  "eyJaaaaaaaaaaaaaaaaaaaaa-",
  "://",
  "://:",
  "://a:",
  "postgres://",
  "nats://a",
  "@://",
  "-----BEGIN ",
  "-----BEGIN PRIVATE KEY",
  "A ",
  "?code=",
  "sk-",
  "drg_",
  '"key":',
  "a",
  "=",
  "%",
  ":",
  '\\"',
];
it("takes time in proportion to the text, whatever it is", () => {
  const cpuOf = (text: string): number => {
    const begun = process.cpuUsage();
    scrub(text);
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  };
  const bestOf = (text: string): number => Math.min(...Array.from({ length: 3 }, () => cpuOf(text)));
  for (const piece of HOSTILE)
    for (const end of ["", "@", '"', " x"]) {
      const long = (chars: number): string => piece.repeat(Math.ceil(chars / piece.length)) + end;
      const [short, eightfold] = [bestOf(long(25_000)), bestOf(long(200_000))];
      // Eight times the text: about eight times the work; a square would be 64 times.
      expect([piece, end, eightfold / Math.max(short, 500) < 32]).toEqual([piece, end, true]);
    }
});

it.each(SECRETS)("%s", (text, expected) => {
  expect(scrub(text)).toBe(expected);
});

it("members are judged by their names, at any depth; counts of tokens are none", () => {
  expect(
    redact({
      headers: { Authorization: "x", "x-api-key": "y", accept: "z" },
      list: [{ clientSecret: "s" }],
      inputTokens: 3,
      password: "",
    }),
  ).toEqual({
    headers: { Authorization: "[redacted]", "x-api-key": "[redacted]", accept: "z" },
    list: [{ clientSecret: "[redacted]" }],
    inputTokens: 3,
    password: "",
  });
});

it("of an error stays what went wrong, and not the request that a library hung on it", () => {
  const cause = Object.assign(new Error("connect to https://me:pw@host failed"), { code: "ECONNREFUSED" });
  const error = Object.assign(new Error("no reply", { cause }), {
    config: { headers: { Authorization: "Bearer abcdefgh" } },
  });
  const told = redact({ err: error }) as { err: Record<string, unknown> };
  expect(told.err).toMatchObject({
    type: "Error",
    message: "no reply",
    cause: { message: "connect to https://[redacted]@host failed", code: "ECONNREFUSED" },
  });
  expect(told.err).not.toHaveProperty("config");
});

class Refused extends Error {}
class Named extends TypeError {
  override readonly name = "SomethingElse";
}

it("an error has the name of its class, and so have its causes and those that it stands for", () => {
  const told = (error: unknown): Record<string, unknown> => redact(error) as Record<string, unknown>;
  expect(told(new Refused("no")).type).toBe("Refused");
  expect(told(new Named("no")).type).toBe("Named");
  expect(told(new RangeError("no")).type).toBe("RangeError");
  expect(told(Object.assign(new Error("no"), { name: "TimeoutError" })).type).toBe("TimeoutError");
  expect(told(new DOMException("no", "AbortError")).type).toBe("AbortError");
  expect(told(new (class extends Error {})("no")).type).toBe("Error");
  expect(
    told(new Error("no", { cause: new Refused("drg_abcdefgh12345678", { cause: "token=abcdefgh" }) })),
  ).toMatchObject({
    type: "Error",
    cause: { type: "Refused", message: "[redacted]", cause: "token=[redacted]" },
  });
  const many = new AggregateError([new Refused("one"), new Named("two"), "three"], "all failed");
  expect(told(new Error("no", { cause: many })).cause).toMatchObject({
    type: "AggregateError",
    message: "all failed",
    errors: [{ type: "Refused", message: "one" }, { type: "Named" }, "three"],
  });
});

it("an error that is made of anything at all can be told", () => {
  const odd = Object.assign(new Error("x"), { message: { password: "hunter2" }, stack: undefined, code: 7n });
  expect(redact(odd)).toEqual({ type: "Error", message: '{"password":"[redacted]"}', code: "7" });
  const many = new AggregateError([], "circle");
  many.errors = Array.from({ length: 100 }, () => many);
  many.cause = many;
  expect(JSON.stringify(redact(many)).length).toBeLessThan(1_000_000);
});

it("keys, bytes and lists of headers are not told either", () => {
  const key = "x1".repeat(22);
  expect(
    redact({
      ring: { sealing: [{ id: "a", key }], signing: [{ kid: "b", jwk: { d: key } }] },
      entry: { id: "a", key, d: key },
      bytes: Buffer.from("hunter2"),
      rawHeaders: ["X-Api-Key", "abc", "Accept", "x"],
      pairs: [["authorization", "abc"]],
      har: [{ name: "Cookie", value: "sid=abc" }],
      [`drg_${key}`]: 1,
      key: "order-4711",
    }),
  ).toEqual({
    ring: { sealing: "[redacted]", signing: [{ kid: "b", jwk: "[redacted]" }] },
    entry: { id: "a", key: "[redacted]", d: "[redacted]" },
    bytes: "[7 bytes]",
    rawHeaders: ["X-Api-Key", "[redacted]", "Accept", "x"],
    pairs: [["authorization", "[redacted]"]],
    har: [{ name: "Cookie", value: "[redacted]" }],
    "[redacted]": 1,
    key: "order-4711",
  });
});

it("what knows how to be written down is asked", () => {
  const at = new Date(0);
  expect(redact({ at, url: new URL("https://a:b@host/x") })).toEqual({
    at: at.toISOString(),
    url: "https://[redacted]@host/x",
  });
});

it("is bounded, and does not run in circles", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(JSON.stringify(redact(circle)).length).toBeLessThan(200);
  expect(JSON.stringify(redact("x".repeat(100_000))).length).toBeLessThan(20_000);
  expect(redact(Array.from({ length: 1_000 }, (_, i) => i))).toHaveLength(100);
  const knot: unknown[] = [];
  knot.push(...Array.from({ length: 100 }, (_, i) => (i % 2 ? knot : { knot, text: "x".repeat(1_000) })));
  expect(JSON.stringify(redact({ knot, ["name".repeat(1_000_000)]: 1 })).length).toBeLessThan(1_000_000);
});
