import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issue } from "../support/callers.ts";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { type Issuer, startIssuer } from "../support/issuer.ts";
import { Browser, type FakeProvider, startProvider } from "../support/oauth-provider.ts";
import type { Loose } from "../support/official-dialects.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { tempFolder } from "../support/server.ts";

/**
 * A server at the most verbose settings (trace level, bodies) receives every kind of secret, in every
 * dialect, also in wrong places. None of its output has one of them: no response, no log, no file.
 */

const AGENT = `
export default {
  name: "secretive",
  extendedCard: caller => ({ description: "For " + caller.principal }),
  async run(task, ctx) {
    const github = await ctx.credentials("github");
    const vendor = await ctx.credentials("vendor");
    ctx.log.info({ github, vendor, headers: { authorization: "Bearer " + github?.accessToken } }, "what there is");
    if (task.text.includes("github") && !github) return ctx.askAuth({ name: "github" });
    if (task.text.includes("vendor") && !vendor) return ctx.askAuth({ name: "vendor", scheme: "basic" });
    if (task.text.includes("boom")) throw new Error("401 for authorization: Bearer " + github?.accessToken);
    return "I know enough";
  },
};`;

const PLANTED = {
  apiKey: "planted-api-key-0123456789abcdef",
  clientSecret: "planted-client-secret",
  pushToken: "planted-push-token",
  pushCredentials: "planted-push-credentials",
  pushSecret: `whsec_${Buffer.from("planted-push-secret-0123456789").toString("base64")}`,
  password: "planted-password-in-a-message",
  posted: "planted-password-in-a-post",
  wrongToken: "planted-wrong-bearer-token",
  wrongBasic: Buffer.from("user:planted-basic").toString("base64"),
};

const folder = tempFolder();
let provider: FakeProvider;
let issuer: Issuer;
let receiver: Receiver;
let server: Child;
/** A whole response, with its headers. */
const answers: string[] = [];
const secrets: string[] = Object.values(PLANTED);

beforeAll(async () => {
  provider = await startProvider({ clientSecret: PLANTED.clientSecret });
  issuer = await startIssuer();
  receiver = await openReceiver();
  writeFileSync(join(folder.path, "secretive.ts"), AGENT);
  writeFileSync(
    join(folder.path, "dragoman.config.ts"),
    `export default ${JSON.stringify({
      auth: ["tokens", "jwt", "api-key"],
      jwt: { issuer: issuer.url, audience: "agents" },
      apiKeys: [{ key: PLANTED.apiKey, principal: "carol" }],
      oauth: { github: provider.config },
      pushAllowLoopback: true,
      pushRetryMs: 20,
    })}`,
  );
  server = await startChild({
    agents: [join(folder.path, "secretive.ts")],
    data: join(folder.path, "data"),
    flags: ["--config", join(folder.path, "dragoman.config.ts"), "--log-level", "trace", "--log-bodies"],
  });
});
afterAll(async () => {
  await endChildren();
  await Promise.all([provider.close(), issuer.close(), receiver.close()]);
  folder.remove();
});

type Headers = Readonly<Record<string, string>>;

async function fetchJson(path: string, init: RequestInit = {}): Promise<Loose> {
  const response = await fetch(`${server.url}${path}`, init);
  const text = await response.text();
  answers.push(`${path.split("?")[0]} ${response.status}`, JSON.stringify([...response.headers]), text);
  return text.startsWith("{") ? JSON.parse(text) : text;
}

const post = (path: string, body: unknown, headers: Headers): Promise<Loose> =>
  fetchJson(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const rpc = (path: string, method: string, params: unknown, headers: Headers): Promise<Loose> =>
  post(path, { jsonrpc: "2.0", id: 1, method, params }, headers);

let messages = 0;
const v1 = (text: string, more: object = {}): Loose => ({
  message: { messageId: `m${++messages}`, role: "ROLE_USER", parts: [{ text }], ...more },
});

it("no output of the server has a secret in it", { timeout: 120_000 }, async () => {
  const alice = await issue(join(folder.path, "data"), "alice", {
    grants: ["send", "read", "cancel", "push", "admin"],
  });
  const jwt = await issuer.sign({ sub: "bob" });
  secrets.push(alice.secret, jwt);
  const callers: readonly Headers[] = [
    alice.headers,
    { authorization: `Bearer ${jwt}` },
    { "x-api-key": PLANTED.apiKey },
  ];
  for (const caller of callers) await converse({ "a2a-version": "1.0", ...caller });
  await misbehave(alice.headers);
  await look(alice.headers);
  await server.stop();
  secrets.push(...issuedSecrets(), ...keySecrets());
  expect(secrets.length).toBeGreaterThan(20);
  const written = [
    ...answers,
    server.stderr(),
    JSON.stringify(server.banner),
    ...(await commandOutputs()),
    ...filesIn(folder.path),
  ];
  expect(server.stderr()).toContain("what there is");
  expect(server.stderr()).toContain("[redacted]");
  for (const secret of secrets) {
    const at = written.find(text => text.includes(secret));
    expect(at?.slice(Math.max(0, at.indexOf(secret) - 200), at.indexOf(secret) + 80)).toBeUndefined();
  }
});

/** Every secret is given, and used. */
async function converse(caller: Headers): Promise<void> {
  const send = async (params: Loose): Promise<Loose> =>
    (await rpc("/", "SendMessage", params, caller)).result.task;
  const asked = await send(v1("github please"));
  const { url } = asked.status.message.parts[1].data.authorization;
  const page = await new Browser().open(url);
  answers.push(page.text);
  const vendor = await send(v1("vendor please"));
  const given = { credentials: { username: "u", password: PLANTED.password } };
  await send(v1("", { taskId: vendor.id, parts: [{ data: given }] }));
  await fetchJson("/credentials/secretive/vendor", { method: "DELETE", headers: caller });
  const again = await send(v1("vendor please"));
  const other = { username: "u", password: PLANTED.posted };
  await post("/credentials", { taskId: again.id, credentials: other }, caller);
  await fetchJson("/credentials", { headers: caller });
  await send(v1("boom"));
  await rpc("/", "SendStreamingMessage", v1("hello"), caller);
  await withPush(asked.id, caller);
}

async function withPush(taskId: string, caller: Headers): Promise<void> {
  const authentication = { scheme: "Bearer", credentials: PLANTED.pushCredentials };
  const config = {
    url: `${receiver.url}/hook`,
    token: PLANTED.pushToken,
    secret: PLANTED.pushSecret,
    authentication,
  };
  const { result } = await rpc("/", "CreateTaskPushNotificationConfig", { taskId, ...config }, caller);
  await rpc("/", "GetTaskPushNotificationConfig", { taskId, id: result.id }, caller);
  await rpc("/", "ListTaskPushNotificationConfigs", { taskId }, caller);
  const older = { ...config, authentication: { schemes: ["Bearer"], credentials: PLANTED.pushCredentials } };
  const v03 = { ...caller, "a2a-version": "0.3" };
  await rpc("/", "tasks/pushNotificationConfig/set", { taskId, pushNotificationConfig: older }, v03);
  await rpc("/", "tasks/pushNotificationConfig/list", { id: taskId }, v03);
  await receiver.got(1);
}

/** Secrets in wrong places, and invalid calls: in every dialect. */
async function misbehave(caller: Headers): Promise<void> {
  const bad: readonly Headers[] = [
    caller,
    { authorization: `Bearer ${PLANTED.wrongToken}` },
    { authorization: `Basic ${PLANTED.wrongBasic}` },
    { "x-api-key": PLANTED.wrongToken },
    { cookie: `session=${PLANTED.wrongToken}` },
  ];
  const mounts: readonly (readonly [path: string, method: string])[] = [
    ["/", "SendMessage"],
    ["/agents/secretive", "message/send"],
    ["/agents/secretive", "tasks/send"],
    ["/a2a/secretive", "message/send"],
    ["/v1/agent-systems/secretive/a2a", "tasks/send"],
    ["/v1/a2a/agents/secretive", "message/send"],
    ["/message:send", ""],
    ["/v1/message:send", ""],
  ];
  const given = { kind: "data", type: "data", data: { credentials: { password: PLANTED.password } } };
  const message = { messageId: "x", role: "user", taskId: "no-such-task", parts: [given] };
  for (const headers of bad)
    for (const [path, method] of mounts) {
      await rpc(path, method, { id: "no-such-task", message }, headers);
      await post(path, `{"password":"${PLANTED.password}"`, headers);
      await post(path, { password: PLANTED.password, credentials: PLANTED.password }, headers);
    }
  for (const headers of bad) {
    await post("/credentials", { taskId: "no-such-task", credentials: PLANTED.posted }, headers);
    await post("/credentials", `{"credentials":"${PLANTED.posted}"`, headers);
    await fetchJson(`/oauth/callback?code=${PLANTED.wrongToken}&state=${PLANTED.wrongToken}`, { headers });
    await fetchJson(`/nowhere?access_token=${PLANTED.wrongToken}`, { headers });
  }
  provider.behaviour = "fails";
  const { result } = await rpc("/", "SendMessage", v1("github please"), caller);
  expect(result).toBeDefined();
}

/** Everything that can be read. */
async function look(caller: Headers): Promise<void> {
  const pages = [
    ...["/", "/agents", "/openapi.json", "/docs", "/livez", "/readyz", "/info", "/metrics"],
    ...["/.well-known/agent-card.json", "/.well-known/agent.json", "/.well-known/jwks.json", "/agentCard"],
    ...["/agent/authenticatedExtendedCard", "/extendedAgentCard", "/v1/card", "/tasks", "/v1/tasks"],
    ...["/admin/tokens", "/admin/pushes", "/admin/log", "/credentials"],
  ];
  for (const page of pages) for (const headers of [caller, {}]) await fetchJson(page, { headers });
}

/** The tokens that the provider issued, and its requests. */
const issuedSecrets = (): readonly string[] => {
  const codes = provider.requests.flatMap(({ form }) => [form.get("code"), form.get("code_verifier")]);
  const numbers = Array.from({ length: 20 }, (_, i) => [`access-${i}-secret`, `refresh-${i}-secret`]).flat();
  return [...codes.filter(one => one !== null), ...numbers];
};

function keySecrets(): readonly string[] {
  const ring = JSON.parse(readFileSync(join(folder.path, "data", "keys.json"), "utf8")) as Loose;
  return [...ring.sealing.map((one: Loose) => one.key), ...ring.signing.map((one: Loose) => one.jwk.d)];
}

/** The output of the commands about stored data. */
async function commandOutputs(): Promise<readonly string[]> {
  const data = ["--data", join(folder.path, "data")];
  const runs = [
    await runCli("keys", "list", ...data),
    await runCli("token", "list", ...data),
    await runCli("doctor", ...data),
    await runCli("backup", join(folder.path, "copy.db"), ...data),
  ];
  return runs.flatMap(({ out, err }) => [out, err]);
}

/** The config and the key file are where secrets belong. */
const filesIn = (path: string): readonly string[] =>
  readdirSync(path).flatMap(name => {
    const file = join(path, name);
    if (statSync(file).isDirectory()) return filesIn(file);
    const isTheirs = name === "keys.json" || name === "dragoman.config.ts";
    return isTheirs ? [] : [readFileSync(file).toString("latin1")];
  });
