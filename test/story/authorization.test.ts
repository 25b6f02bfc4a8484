import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { Browser, type FakeProvider, startProvider } from "../support/oauth-provider.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** v1 §7.6, B-V10: an agent requests credentials of its caller, gets them out of band, and continues. */

const github: AgentDefinition = {
  name: "issues",
  async run(task, ctx) {
    const found = await ctx.credentials("github");
    if (!found)
      return ctx.askAuth({ name: "github", scopes: ["repo"], description: "To read your issues on GitHub." });
    return `${task.history[0]?.parts.length} ${found.accessToken} ${found.scopes?.join("+")} ${task.text}`;
  },
};
const keyed: AgentDefinition = {
  name: "keyed",
  inputModes: ["text/plain"],
  async run(_task, ctx) {
    const found = await ctx.credentials("vendor");
    return found
      ? `${found.scheme}: ${JSON.stringify(found)}`
      : ctx.askAuth({ name: "vendor", scheme: "apiKey" });
  },
};

let provider: FakeProvider;
let server: TestServer;
beforeEach(async () => {
  provider = await startProvider();
  server = await serve([github, keyed], { oauth: { github: provider.config } });
});
afterEach(async () => {
  await server.stop();
  await provider.close();
});

const call = (method: string, params: object, agent = "issues"): Promise<Loose> =>
  rpcResult(`${server.url}/agents/${agent}`, method, params, { "a2a-version": "1.0" });
const send = async (text: string, agent = "issues", message: object = {}): Promise<Loose> =>
  (
    await call(
      V1.send,
      { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...message } },
      agent,
    )
  ).task;
const get = (id: string, agent = "issues"): Promise<Loose> => call(V1.get, { id }, agent);
const factsOf = (task: Loose): Loose => task.status.message.parts[1].data.authorization;
const textOf = (task: Loose): string => task.artifacts[0].parts[0].text;
const settled = async (id: string, agent = "issues"): Promise<Loose> => {
  await expect.poll(async () => (await get(id, agent)).status.state).toMatch(/COMPLETED|FAILED|AUTH/);
  return get(id, agent);
};

describe("with OAuth 2", () => {
  it("a user opens the link, consents, and the task continues", async () => {
    const task = await send("list my issues");
    expect(task.status.state).toBe("TASK_STATE_AUTH_REQUIRED");
    const facts = factsOf(task);
    expect(facts).toMatchObject({ name: "github", scheme: "oauth2", scopes: ["repo"], taskId: task.id });
    expect(task.status.message.parts[0].text).toBe(
      `To read your issues on GitHub.\nOpen ${facts.url} to authorize; the task then continues automatically.`,
    );
    const done = await new Browser().open(facts.url);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("continues its work")]);
    const end = await settled(task.id);
    expect(textOf(end)).toBe("1 access-2-secret repo+read:user Authorized: github");
    expect(end.history.at(-1)).toMatchObject({
      role: "ROLE_USER",
      parts: [{ text: "Authorized: github" }, { data: { authorized: "github" } }],
    });
  });

  it("the authorization request has code, PKCE, all scopes and our state; the secret is sent to the token endpoint only", async () => {
    const task = await send("hi");
    await new Browser().open(factsOf(task).url);
    const [visit] = provider.visits;
    expect(Object.fromEntries(visit ?? [])).toMatchObject({
      audience: "api",
      response_type: "code",
      client_id: "dragoman",
      redirect_uri: `${server.url}/oauth/callback`,
      scope: "read:user repo",
      code_challenge_method: "S256",
      state: expect.stringMatching(/^v1\./),
    });
    expect(visit?.toString()).not.toContain("hunter2");
    const [request] = provider.requests;
    expect(Object.fromEntries(request?.form ?? [])).toMatchObject({
      grant_type: "authorization_code",
      client_id: "dragoman",
      client_secret: "client-secret-hunter2",
      redirect_uri: `${server.url}/oauth/callback`,
    });
  });

  it("a stream stays open meanwhile, and gets the rest", async () => {
    const response = await fetch(`${server.url}/agents/issues`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: V1.stream,
        params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } },
      }),
    });
    const decoder = new TextDecoder();
    let text = "";
    let opened = false;
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const [, url] = /"url":"([^"]+\/oauth\/start[^"]+)"/.exec(text) ?? [];
      if (url === undefined || opened) continue;
      opened = true;
      await new Browser().open(url);
    }
    expect(text).toContain("access-2-secret");
    expect(text).toContain("TASK_STATE_COMPLETED");
  });

  it("credentials that were given once are reused, for this caller and this agent", async () => {
    const task = await send("hi");
    await new Browser().open(factsOf(task).url);
    await settled(task.id);
    expect(textOf(await send("again"))).toContain("access-2-secret");
    expect(provider.visits).toHaveLength(1);
  });

  it("a link works until the task has its credentials, and no longer", async () => {
    const task = await send("hi");
    const { url } = factsOf(task);
    const browser = new Browser();
    await browser.open(url);
    expect((await new Browser().open(url)).status).toBe(410);
    const callback = browser.seen.find(one => one.includes("/oauth/callback")) as string;
    expect((await browser.open(callback)).status).toBe(410);
    expect(provider.requests).toHaveLength(1);
  });

  it("concurrent visits with the same state count once", async () => {
    const task = await send("hi");
    const browser = new Browser();
    provider.behaviour = "declines";
    await browser.open(factsOf(task).url);
    provider.behaviour = "kind";
    const state = provider.visits[0]?.get("state") as string;
    const callback = `${server.url}/oauth/callback?code=x&state=${encodeURIComponent(state)}`;
    await Promise.all(Array.from({ length: 5 }, () => browser.open(callback)));
    expect(provider.requests).toHaveLength(1);
  });

  it("a denied consent changes nothing, and can be given later", async () => {
    const task = await send("hi");
    provider.behaviour = "declines";
    const no = await new Browser().open(factsOf(task).url);
    expect([no.status, no.text]).toEqual([200, expect.stringContaining("Authorization declined")]);
    expect((await get(task.id)).status.state).toBe("TASK_STATE_AUTH_REQUIRED");
    provider.behaviour = "kind";
    expect((await new Browser().open(factsOf(task).url)).status).toBe(200);
    expect((await settled(task.id)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it.each(["fails", "refuses"] as const)(
    "a provider that %s is logged, without its response",
    async behaviour => {
      const task = await send("hi");
      provider.behaviour = behaviour;
      const page = await new Browser().open(factsOf(task).url);
      expect([page.status, page.text]).toEqual([502, expect.stringContaining("Authorization failed")]);
      expect((await get(task.id)).status.state).toBe("TASK_STATE_AUTH_REQUIRED");
      const line = server.log.lines.find(({ text }) => text === "authorization failed");
      expect((line?.facts.err as Error | undefined)?.stack).toEqual(expect.not.stringContaining("hunter2"));
    },
  );

  it("the callback needs the browser of the visit", async () => {
    const task = await send("hi");
    const victim = new Browser();
    provider.behaviour = "declines";
    await victim.open(factsOf(task).url);
    const state = provider.visits[0]?.get("state") as string;
    const stolen = `${server.url}/oauth/callback?code=x&state=${encodeURIComponent(state)}`;
    const page = await new Browser().open(stolen);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("another browser")]);
    expect(provider.requests).toEqual([]);
  });

  it.each([
    ["nothing", ""],
    ["nonsense", "?state=x&code=y"],
    ["a state that this server did not encrypt", `?state=v1.${"A".repeat(12)}.${"A".repeat(80)}&code=y`],
  ])("a callback with %s is refused", async (_name, query) => {
    for (const path of ["callback", "start"]) {
      const page = await new Browser().open(`${server.url}/oauth/${path}${query}`);
      expect([page.status, page.text]).toEqual([400, expect.stringContaining("not valid")]);
    }
  });

  it("a link for one purpose does not work for another", async () => {
    const { url } = factsOf(await send("hi"));
    const ask = new URL(url).searchParams.get("ask") as string;
    const page = await new Browser().open(`${server.url}/oauth/callback?code=x&state=${ask}`);
    expect(page.status).toBe(400);
  });

  it("a task that was canceled, or requested credentials again, no longer accepts the old link", async () => {
    const task = await send("hi");
    const again = await send("well?", "issues", { taskId: task.id });
    expect(again.status.state).toBe("TASK_STATE_AUTH_REQUIRED");
    expect((await new Browser().open(factsOf(task).url)).status).toBe(410);
    await call(V1.cancel, { id: task.id });
    expect((await new Browser().open(factsOf(again).url)).status).toBe(410);
  });

  it("pages are not cached, load nothing and send no referrer", async () => {
    const response = await fetch(`${server.url}/oauth/callback`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(response.headers.get("content-type")).toContain("text/html");
    const start = await fetch(factsOf(await send("hi")).url, { redirect: "manual" });
    expect(start.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  });
});

describe("tokens that expire", () => {
  async function authorized(): Promise<void> {
    const task = await send("hi");
    await new Browser().open(factsOf(task).url);
    await settled(task.id);
  }

  it("are refreshed before they are used, once for all concurrent runs", async () => {
    provider.expiresIn = 1;
    await authorized();
    provider.expiresIn = 3_600;
    const before = provider.requests.length;
    const texts = (await Promise.all([send("a"), send("b"), send("c")])).map(textOf);
    expect(new Set(texts.map(text => text.split(" ")[1])).size).toBe(1);
    const renewals = provider.requests.slice(before).map(({ form }) => form.get("grant_type"));
    expect(renewals).toEqual(["refresh_token"]);
    expect(textOf(await send("d"))).toContain(texts[0]?.split(" ")[1]);
  });

  it("are requested again when the provider refuses to refresh them", async () => {
    provider.expiresIn = 0;
    await authorized();
    provider.behaviour = "refuses";
    expect((await send("a")).status.state).toBe("TASK_STATE_AUTH_REQUIRED");
    provider.behaviour = "kind";
    expect((await send("b")).status.state).toBe("TASK_STATE_AUTH_REQUIRED");
  });

  it("are kept while the provider cannot be reached; a run that needs them fails, and the next one may succeed", async () => {
    provider.expiresIn = 0;
    await authorized();
    provider.behaviour = "fails";
    expect((await send("a")).status.state).toBe("TASK_STATE_FAILED");
    provider.behaviour = "kind";
    provider.expiresIn = 3_600;
    expect((await send("b")).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("without a browser", () => {
  const give = (body: unknown): Promise<Response> =>
    fetch(`${server.url}/credentials`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  it("a message with a data part provides them, and they are not recorded", async () => {
    const task = await send("hi", "keyed");
    expect(factsOf(task)).toMatchObject({
      name: "vendor",
      scheme: "apiKey",
      credentialsUrl: `${server.url}/credentials`,
    });
    expect(task.status.message.parts[0].text).toContain(
      'reply to this task with a data part {"credentials": {…}}',
    );
    const parts = [{ data: { credentials: { apiKey: "key-hunter2" } } }];
    const end = await send("", "keyed", { taskId: task.id, parts });
    expect(textOf(end)).toBe('apiKey: {"apiKey":"key-hunter2","scheme":"apiKey"}');
    expect(JSON.stringify(end.history)).not.toContain("hunter2");
    expect(end.history.at(-1).parts).toEqual([
      { text: "Authorized: vendor" },
      { data: { authorized: "vendor" } },
    ]);
  });

  it("the other parts of the message are recorded, and a text part can be the token", async () => {
    const task = await send("hi", "keyed");
    const parts = [{ text: "here it is" }, { data: { credentials: "token-hunter2" } }];
    const end = await send("", "keyed", { taskId: task.id, parts });
    expect(textOf(end)).toContain('"token":"token-hunter2"');
    expect(end.history.at(-1).parts).toEqual([{ text: "here it is" }, { data: { authorized: "vendor" } }]);
  });

  it("they can be posted, whatever the dialect of the task", async () => {
    const task = await send("hi", "keyed");
    const response = await give({ agent: "keyed", taskId: task.id, credentials: { apiKey: "key-hunter2" } });
    expect([response.status, await response.json()]).toEqual([
      202,
      { taskId: task.id, state: expect.any(String) },
    ]);
    expect(textOf(await settled(task.id, "keyed"))).toContain("key-hunter2");
  });

  it.each([
    ["no JSON", "{", 400, "The body is not JSON"],
    ["no task", { credentials: "x" }, 400, "taskId is required"],
    ["no credentials", { taskId: "t" }, 400, "credentials must be"],
    [
      "empty ones",
      { agent: "keyed", taskId: "TASK", credentials: {} },
      400,
      "must be a string or a non-empty object",
    ],
    ["too many", { agent: "keyed", taskId: "TASK", credentials: "x".repeat(20_000) }, 400, "more than 16384"],
    ["an unknown task", { taskId: "nope", credentials: "x" }, 404, "Task not found"],
    ["an unknown agent", { agent: "nope", taskId: "t", credentials: "x" }, 404, "not found; available"],
  ])("an invalid post is refused with its reason: %s", async (_name, body, status, message) => {
    const task = await send("hi", "keyed");
    const response = await give(
      JSON.stringify(body)
        .replace("TASK", task.id)
        .replace(/^"\{"$/, "{"),
    );
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(message)]);
    expect((await get(task.id, "keyed")).status.state).toBe("TASK_STATE_AUTH_REQUIRED");
  });

  it("a task that requests none accepts none, and they are not recorded", async () => {
    const plain: AgentDefinition = { name: "plain", run: (_task, ctx) => ctx.ask("What else?") };
    const other = await serve([plain]);
    try {
      const task = (await rpcResult(other.url, V1.send, V1.sendParams("hi"), { "a2a-version": "1.0" })).task;
      const message = {
        messageId: "m2",
        role: "ROLE_USER",
        taskId: task.id,
        parts: [{ data: { credentials: { token: "hunter2" } } }],
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: V1.send, params: { message } });
      const headers = { "content-type": "application/json", "a2a-version": "1.0" };
      const answer = (await (await fetch(other.url, { method: "POST", headers, body })).json()) as Loose;
      expect(answer.error.message).toContain("does not ask for credentials; they were discarded");
      const seen = await rpcResult(other.url, V1.get, { id: task.id }, { "a2a-version": "1.0" });
      expect(JSON.stringify(seen)).not.toContain("hunter2");
    } finally {
      await other.stop();
    }
  });

  it("a caller lists the names of stored credentials, and deletes them", async () => {
    const task = await send("hi", "keyed");
    await send("", "keyed", { taskId: task.id, parts: [{ data: { credentials: "hunter2" } }] });
    const names = async (): Promise<unknown> => (await fetch(`${server.url}/credentials?agent=keyed`)).json();
    expect(await names()).toEqual({ agent: "keyed", names: ["vendor"] });
    await fetch(`${server.url}/credentials/keyed/vendor`, { method: "DELETE" });
    expect(await names()).toEqual({ agent: "keyed", names: [] });
    expect((await send("again", "keyed")).status.state).toBe("TASK_STATE_AUTH_REQUIRED");
  });
});

describe("over restarts", () => {
  it("the link still works, the credentials are still there, and are encrypted on disk", async () => {
    const folder = tempFolder();
    const settings = { oauth: { github: provider.config }, data: folder.path };
    await server.stop();
    try {
      server = await serve([github], { ...settings });
      const { port } = new URL(server.url);
      const task = await send("hi");
      await server.stop();
      server = await serve([github], { ...settings, port: Number(port) });
      expect((await new Browser().open(factsOf(task).url)).status).toBe(200);
      expect(textOf(await settled(task.id))).toContain("access-2-secret");
      await server.stop();
      server = await serve([github], { ...settings, port: Number(port) });
      expect(textOf(await send("again"))).toContain("access-2-secret");
      const kept = readdirSync(folder.path).map(name =>
        readFileSync(join(folder.path, name)).toString("latin1"),
      );
      for (const secret of ["refresh-2-secret", "code-1-secret", "client-secret-hunter2"])
        expect(kept.join()).not.toContain(secret);
    } finally {
      await server.stop();
      folder.remove();
    }
  });
});
