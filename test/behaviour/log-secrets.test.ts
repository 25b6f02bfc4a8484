import { afterAll, afterEach, expect, it } from "vitest";
import { endChildren, startChild, writeAgent } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import type { Loose } from "../support/official-dialects.ts";
import { tempFolder } from "../support/server.ts";

/** The log of a real server: secrets are removed, and an error has the name of its class. */

const folder = tempFolder();
afterEach(endChildren);
afterAll(folder.remove);

/** Split here, so that no scanner finds a secret in this file. */
const SECRETS = {
  token: `drg_${"Ab1-".repeat(11)}`.slice(0, 47),
  webhook: `whsec_${Buffer.from("a secret of a webhook, 30 byte").toString("base64")}`,
  jwt: ["eyJhbGciOiJFUzI1NiJ9", "eyJzdWIiOiJhZGEifQ", "c2lnbmF0dXJlLW9mLWFkYQ"].join("."),
  bearer: "opaque.access/token+1=",
  basic: Buffer.from("ada:hunter2").toString("base64"),
  postgres: "p0stgres-pa@ss/word",
  nats: "n4ts-t0ken",
  cookie: "s1d-0123456789",
  code: "0auth-c0de-1",
  client: "cl1ent-s3cret",
  apiKey: "ap1-k3y-of-ada",
  provider: `sk-${"proj-".repeat(4)}1234`,
};

const LINES = (s: typeof SECRETS): readonly string[] => [
  `made ${s.token} and ${s.webhook}`,
  `got ${s.jwt}; Authorization: Bearer ${s.bearer}; authorization: Basic ${s.basic}`,
  `postgres://ada:${s.postgres}@db/tasks and nats://${s.nats}@bus:4222`,
  `Cookie: sid=${s.cookie}`,
  `GET /oauth/callback?code=${s.code}&client_secret=${s.client}`,
  `x-api-key: ${s.apiKey}, key ${s.provider}`,
];

const AGENT = `
    class Refused extends Error {}
    class Timeout extends TypeError {}
    const lines = ${JSON.stringify(LINES(SECRETS))};
    const secrets = ${JSON.stringify(SECRETS)};
    ctx.log.warn({ headers: { "X-Api-Key": secrets.apiKey, cookie: "sid=" + secrets.cookie }, lines }, lines.join(" "));
    const many = new AggregateError(lines.map(line => new Timeout(line)), lines[0]);
    throw new Refused(lines.join(" "), { cause: many });
`;

it("the log has none of the secrets that an agent logs and throws, and has the class of each error", async () => {
  const agent = writeAgent(folder.path, "careless", AGENT);
  const child = await startChild({
    agents: [agent],
    data: ":memory:",
    flags: ["--log-level", "trace", "--log-bodies"],
  });
  for (const line of LINES(SECRETS)) await rpc(child.url, "SendMessage", sendParams(line));
  await until(() => child.stderr().includes('"type":"Refused"'), 20_000);
  await child.stop();
  const log = child.stderr();
  for (const [name, secret] of Object.entries(SECRETS))
    expect([name, log.includes(secret)]).toEqual([name, false]);
  const errors = log
    .split("\n")
    .filter(line => line.startsWith("{"))
    .map(line => (JSON.parse(line) as Loose).err)
    .filter(Boolean);
  expect(errors.length).toBeGreaterThan(0);
  for (const err of errors)
    expect(err).toMatchObject({
      type: "Refused",
      message: expect.stringContaining("made [redacted] and [redacted]"),
      cause: {
        type: "AggregateError",
        errors: expect.arrayContaining([expect.objectContaining({ type: "Timeout" })]),
      },
    });
  // Text without secrets is still there.
  expect(log).toContain("@db/tasks");
  expect(log).toContain("@bus:4222");
});
