import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_PERMISSIONS, DEFAULT_TENANT, dayOf } from "../../src/model/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { issue } from "../support/callers.ts";
import { rpc, until } from "../support/client.ts";
import { type Issuer, startIssuer } from "../support/issuer.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/**
 * Durations and expiry: the system clock is set back, or events are recorded far ahead of it. Only `Date` is
 * faked.
 */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let folder: ReturnType<typeof tempFolder>;
let hook: Receiver;
let issuer: Issuer | undefined;
let server: TestServer | undefined;
const puppet = createScriptedAgent();
const spender = {
  name: "spender",
  description: "spends tokens",
  run: (_: unknown, ctx: { usage(counters: object): void }) => {
    ctx.usage({ inputTokens: 60 });
    return "done";
  },
};

beforeEach(async () => {
  folder = tempFolder();
  hook = await openReceiver();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 5, 1, 12) });
});
afterEach(async () => {
  vi.useRealTimers();
  await server?.stop();
  server = undefined;
  await hook.close();
  await issuer?.close();
  issuer = undefined;
  folder.remove();
});

const move = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
async function start(settings: Partial<ServerSettings> = {}): Promise<string> {
  const agents = [echo, puppet.definition, spender] as Parameters<typeof serve>[0];
  server = await serve(agents, { data: join(folder.path, "data"), drainMs: 20, ...settings });
  return server.url;
}
const stop = async (): Promise<void> => {
  await server?.stop();
  server = undefined;
};
const send = (url: string, headers: Record<string, string> = {}) =>
  rpc(url, "SendMessage", V1.sendParams("hello"), headers);
const isAnswered = async (url: string, headers?: Record<string, string>): Promise<boolean> =>
  (await send(url, headers)).body.result !== undefined;

/** A recorded event is that far ahead of the system clock. */
async function recordAhead(ms: number, settings: Partial<ServerSettings> = {}): Promise<void> {
  move(ms);
  expect(await isAnswered(await start(settings))).toBe(true);
  await stop();
  move(-ms);
}

/** Sends a message whose webhook refuses the first delivery; resolves after that. */
async function failOnce(url: string): Promise<void> {
  hook.answer = () => ({ status: 503 });
  const taskPushNotificationConfig = { id: "c", url: hook.url };
  const configuration = { returnImmediately: true, taskPushNotificationConfig };
  await rpcResult(url, "SendMessage", V1.sendParams("hello", {}, { configuration }));
  await hook.got(1);
}

describe("with the system clock set back by an hour", () => {
  test("a quota of calls refills", async () => {
    const url = await start({ quotas: { caller: { callsPerSecond: 1, callsBurst: 1 } } });
    await until(async () => !(await isAnswered(url)));
    move(-HOUR);
    await until(() => isAnswered(url));
  });

  test("webhook deliveries are retried", async () => {
    await failOnce(await start({ pushRetryMs: 200 }));
    move(-HOUR);
    hook.answer = () => ({ status: 204 });
    await hook.find(({ body }) => V1.toItem({ result: body }).state === "completed");
  });

  test("deliveries are retried after a restart, no later than planned", async () => {
    await failOnce(await start({ pushRetryMs: 500 }));
    await stop();
    move(-HOUR);
    hook.answer = () => ({ status: 204 });
    await start({ pushRetryMs: 500 });
    await hook.find(({ body }) => V1.toItem({ result: body }).state === "completed");
  });

  test("signatures for a webhook have the current time", async () => {
    const url = await start();
    await send(url);
    move(-HOUR);
    await failOnce(url);
    expect(Number(hook.all[0]?.headers["webhook-timestamp"]) * 1_000).toBe(Date.now());
  });

  test("a token that expires in between is valid again, and one that has already expired is refused", async () => {
    const url = await start({ auth: ["tokens"] });
    const { headers } = await issue(join(folder.path, "data"), "alice", { expiresAt: Date.now() + HOUR });
    expect(await isAnswered(url, headers)).toBe(true);
    move(2 * HOUR);
    expect((await send(url, headers)).status).toBe(401);
    move(-1.5 * HOUR);
    expect(await isAnswered(url, headers)).toBe(true);
    move(HOUR);
    expect((await send(url, headers)).status).toBe(401);
  });
});

describe("after an event that was recorded 31 days ahead", () => {
  test("a token that is valid for 30 days is accepted, and refused when 30 days have passed", async () => {
    await recordAhead(31 * DAY);
    const data = join(folder.path, "data");
    const { headers } = await issue(data, "alice", { expiresAt: Date.now() + 30 * DAY });
    const url = await start({ auth: ["tokens"] });
    expect(await isAnswered(url, headers)).toBe(true);
    move(30 * DAY + 1_000);
    expect((await send(url, headers)).status).toBe(401);
  });

  test("a token that the server itself issues for 30 days is accepted", async () => {
    await recordAhead(31 * DAY);
    const grants = ["admin"] as const;
    const admin = await issue(join(folder.path, "data"), "root", { grants });
    const url = await start({ auth: ["tokens"] });
    const made = await fetch(`${url}/admin/tokens`, {
      method: "POST",
      headers: { ...admin.headers, "content-type": "application/json" },
      body: JSON.stringify({ principal: "alice", expiresInSeconds: 30 * 86_400 }),
    });
    const { token, createdAt, expiresAt } = (await made.json()) as Record<string, string>;
    expect([createdAt, expiresAt].map(one => Date.parse(one as string))).toEqual([
      Date.now(),
      Date.now() + 30 * DAY,
    ]);
    expect(await isAnswered(url, { authorization: `Bearer ${token}` })).toBe(true);
  });

  test("exp and nbf of a JSON Web Token are compared with the current time", async () => {
    issuer = await startIssuer();
    await recordAhead(31 * DAY);
    const seconds = Math.floor(Date.now() / 1_000);
    const who = { principal: "sub", prefix: "", tenant: undefined, tenants: [DEFAULT_TENANT] };
    const may = { scopes: undefined, grants: DEFAULT_PERMISSIONS, scopeNames: {}, agents: undefined };
    const trusted = { issuer: issuer.url, jwksUrl: undefined, audience: ["agents"], algorithms: ["ES256"] };
    const jwt = [{ ...trusted, skewSeconds: 0, claims: { ...who, ...may } }];
    const url = await start({ auth: ["jwt"], jwt });
    const headersOf = async (more: object) => ({
      authorization: `Bearer ${await issuer?.sign({ exp: seconds + 600, ...more })}`,
    });
    const good = await headersOf({});
    expect(await isAnswered(url, good)).toBe(true);
    expect((await send(url, await headersOf({ nbf: seconds + 60 }))).status).toBe(401);
    move(601_000);
    expect((await send(url, good)).status).toBe(401);
  });

  test("a quota of calls refills, deliveries are retried, and responses have the current date", async () => {
    await recordAhead(31 * DAY);
    const url = await start({ pushRetryMs: 50, quotas: { caller: { callsPerSecond: 1, callsBurst: 2 } } });
    await failOnce(url);
    hook.answer = () => ({ status: 204 });
    await hook.find(({ body }) => V1.toItem({ result: body }).state === "completed");
    await until(async () => !(await isAnswered(url)));
    await until(() => isAnswered(url));
    const card = await fetch(`${url}/.well-known/agent-card.json`);
    expect(Date.parse(card.headers.get("date") ?? "")).toBe(Date.now());
    expect(Date.parse(card.headers.get("last-modified") ?? "")).toBe(Date.now());
  });

  test("tokens that an agent uses count for today, and the quota is full again tomorrow", async () => {
    await recordAhead(31 * DAY);
    const url = `${await start({ quotas: { caller: { tokensPerDay: 100 } } })}/agents/spender`;
    expect([await isAnswered(url), await isAnswered(url)]).toEqual([true, true]);
    const { body } = await send(url);
    expect(body.error.message).toContain("tokens");
    const today = dayOf(Date.now());
    move(DAY);
    expect(dayOf(Date.now())).toBe(today + 1);
    expect(await isAnswered(url)).toBe(true);
  });
});
