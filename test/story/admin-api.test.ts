import { afterEach, describe, expect, it } from "vitest";
import { adminEvents, adminGet, adminPost } from "../support/admin-client.ts";
import { asker, echo, mirror, replier } from "../support/agents.ts";
import { rpc, sendParams } from "../support/client.ts";
import type { Loose } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** The admin API as the console uses it, on a server without authentication on loopback. */

let server: TestServer;
let folder: ReturnType<typeof tempFolder> | undefined;
afterEach(async () => {
  await server.stop();
  folder?.remove();
});

const broken = {
  name: "broken",
  run: (): string => {
    throw new Error("the disk of the agent is gone");
  },
};

async function start(): Promise<void> {
  folder = tempFolder();
  server = await serve([echo, asker, replier, broken, mirror], { data: folder.path, signCards: true });
}

const get = async (path: string): Promise<Loose> => {
  const { status, json } = await adminGet(server.url, path);
  expect([path, status, json.error]).toEqual([path, 200, undefined]);
  return json;
};
const send = async (agent: string, text: string, more: object = {}): Promise<Loose> => {
  const { body } = await rpc(`${server.url}/agents/${agent}`, "SendMessage", sendParams(text, more));
  return (body as Loose).result;
};

describe("the admin API", () => {
  it("says who the caller is and what it may do", async () => {
    await start();
    expect(await get("/me")).toMatchObject({
      principal: "anonymous",
      isOperator: true,
      mayAct: true,
      console: "on",
      needsToken: false,
    });
  });

  it("lists tasks of all agents, the newest first, and finds them by agent, state and text", async () => {
    await start();
    await send("echo", "an apple");
    await send("asker", "a pear");
    await send("broken", "a plum");
    await send("replier", "a quince");
    const { tasks } = await get("/tasks");
    expect(tasks.map((task: Loose) => [task.agent, task.state, task.title])).toEqual([
      ["broken", "failed", "a plum"],
      ["asker", "input-required", "a pear"],
      ["echo", "completed", "an apple"],
    ]);
    const find = async (query: string): Promise<unknown> =>
      ((await get(`/tasks?${query}`)).tasks as Loose[]).map(task => task.agent);
    expect(await find("agent=echo&agent=asker")).toEqual(["asker", "echo"]);
    expect(await find("state=failed&state=completed")).toEqual(["broken", "echo"]);
    expect(await find("text=APPLE")).toEqual(["echo"]);
    expect(await find("replies=true&text=quince")).toEqual(["replier"]);
    expect(await find("caller=nobody-else")).toEqual([]);
    expect(await find(`from=${Date.now() + 60_000}`)).toEqual([]);
    const first = await get("/tasks?pageSize=2");
    const second = await get(`/tasks?pageSize=2&pageToken=${first.nextPageToken}`);
    expect(second.tasks.map((task: Loose) => task.agent)).toEqual(["echo"]);
    expect((await get("/tasks/counts")).byState).toMatchObject({
      failed: 1,
      "input-required": 1,
      completed: 2,
    });
  });

  it("explains one task: why, runs, steps, events, dialects, frames, commands and log lines", async () => {
    await start();
    const { task } = await send("broken", "it's a plum");
    const id = task.id;
    const detail = await get(`/tasks/${id}`);
    expect(detail.why).toMatch(/^Failed: .*thrown: Error: the disk of the agent is gone/);
    expect(detail.runs).toMatchObject([{ run: 1, turn: 1, outcome: "broken", error: { name: "Error" } }]);
    expect(detail.input).toMatchObject({ role: "ROLE_USER", parts: [{ text: "it's a plum" }] });
    const { events, lastSeq } = await get(`/tasks/${id}/events?max=2`);
    expect(events.map((event: Loose) => [event.seq, event.type])).toEqual([
      [1, "created"],
      [2, "message"],
    ]);
    const { dialects } = await get(`/tasks/${id}/dialects`);
    expect(dialects.map((one: Loose) => [one.name, one.problem])).toEqual(
      ["v1", "v03", "v02", "v01", "langgraph", "orloj", "simple", "arbiter", "openai"].map(name => [
        name,
        null,
      ]),
    );
    const { frames } = await get(`/tasks/${id}/frames?after=${Number(lastSeq) - 1}`);
    expect(frames).toHaveLength(1);
    expect(frames[0].byDialect.v1.data.result.statusUpdate.status.state).toBe("TASK_STATE_FAILED");
    expect(frames[0].byDialect.v03.data.result).toMatchObject({ kind: "status-update", final: true });
    const { lines } = await get(`/tasks/${id}/logs`);
    expect(lines).toMatchObject([{ level: "error", text: "an agent failed", task: id, run: 1 }]);
    const { commands } = await get(`/tasks/${id}/curl?after=3`);
    expect(commands.filter((one: Loose) => one.command.includes("Last-Event-ID: 3"))).toHaveLength(9);
  });

  it("streams the events of a task from any event on, and ends with the task", async () => {
    await start();
    const { task } = await send("asker", "a pear");
    const id = task.id;
    const abort = new AbortController();
    const seen: string[] = [];
    for await (const event of adminEvents(server.url, `/tasks/${id}/events/stream?after=2`, abort.signal)) {
      seen.push(`${event.id ?? ""} ${event.event} ${event.data.type ?? event.data.reason}`);
      if (seen.length === 2) await send("asker", "two", { taskId: id });
    }
    expect(seen[0]).toBe("3 message started");
    expect(seen[1]).toBe("4 message status");
    expect(seen.at(-1)).toBe(" end The task has ended");
    const ids = seen.slice(0, -1).map(line => Number.parseInt(line, 10));
    expect(ids).toEqual(ids.map((_, i) => i + 3));
  });

  it("streams tasks that change, and only those that match", async () => {
    await start();
    const abort = new AbortController();
    const rows: unknown[] = [];
    for await (const { event, data } of adminEvents(server.url, "/tasks/changes?agent=asker", abort.signal)) {
      rows.push([event, data.agent, data.state]);
      if (event === "ready") {
        await send("echo", "an apple");
        await send("asker", "a pear");
      } else if (data.state === "input-required") break;
    }
    expect(rows[0]).toEqual(["ready", undefined, undefined]);
    expect(rows.slice(1).every(row => (row as unknown[])[1] === "asker")).toBe(true);
  });

  it("lists conversations with titles, bare replies too, and the messages of one", async () => {
    await start();
    const { message } = await send("replier", "a quince");
    const contextId = message.contextId;
    await send("replier", "and a medlar", { contextId });
    await send("echo", "an apple");
    const { contexts } = await get("/contexts");
    expect(contexts.map((one: Loose) => [one.agent, one.title, one.task.title])).toEqual([
      ["echo", "an apple", "an apple"],
      ["replier", "a quince", "and a medlar"],
    ]);
    expect((await get("/contexts?text=QUINCE")).contexts).toHaveLength(1);
    const { tasks } = await get(`/contexts/${contextId}?agent=replier`);
    expect(tasks.map((one: Loose) => one.row.title)).toEqual(["a quince", "and a medlar"]);
    expect(tasks[0].row.isReply).toBe(true);
    expect(tasks[0].reply.parts).toHaveLength(1);
  });

  it("has the tasks that wait for a person", async () => {
    await start();
    await send("asker", "a pear");
    await send("asker", "a fig");
    const { tasks, total } = await get("/inbox?pageSize=1");
    expect(total).toBe(2);
    expect(tasks).toMatchObject([{ task: { title: "a pear" }, authorization: null, asksToRepeat: false }]);
    expect((await get("/inbox?kind=authorization")).tasks).toEqual([]);
  });

  it("shows the cards of an agent in every form, with findings and verified signatures", async () => {
    await start();
    const { agents } = await get("/agents");
    expect(agents.map((agent: Loose) => agent.name)).toEqual([
      "echo",
      "asker",
      "replier",
      "broken",
      "mirror",
    ]);
    const { cards } = await get("/agents/echo/cards");
    expect(cards.map((card: Loose) => card.form)).toEqual([
      "hybrid",
      ...["v1", "v03", "v02", "v01", "langgraph", "orloj", "simple", "arbiter"],
    ]);
    for (const { form, path, card } of cards) {
      const headers: Record<string, string> = { v1: "1.0", v03: "0.3", v02: "0.2", v01: "0.1" };
      const version = headers[form];
      const response = await fetch(`${server.url}${path}`, {
        headers: version ? { "A2A-Version": version } : {},
      });
      expect([form, await response.json()]).toEqual([form, card]);
    }
    expect(cards[1].signatures.every((one: Loose) => one.isValid)).toBe(true);
    const finding = cards[1].findings.find((one: Loose) => one.title === "The address is not HTTPS");
    expect(finding).toMatchObject({
      section: "A2A 1.0 §4.4.6, AgentInterface",
      path: "supportedInterfaces[0].url",
    });
  });

  it("shows the server without secrets, its limits, its documents and its description", async () => {
    await start();
    await send("echo", "an apple");
    expect(await get("/server")).toMatchObject({ isReady: true, store: {}, totals: { calls: 1 } });
    expect((await get("/server/figures")).stepMs).toBe(10_000);
    const { options } = await get("/server/config");
    expect(options.find((one: Loose) => one.name === "port")).toMatchObject({ value: 0 });
    const { limits } = await get("/server/limits");
    expect(limits.find((one: Loose) => one.name === "streamsMax")).toMatchObject({ used: 0 });
    const { pages } = await get("/docs");
    const push = pages.find((page: Loose) => page.path === "guide/push.md");
    expect(push?.section).toBe("guide");
    const document = await fetch(`${server.url}/admin/v1/docs/guide/push.md`);
    expect([document.headers.get("content-type"), (await document.text()).startsWith("# ")]).toEqual([
      "text/markdown; charset=utf-8",
      true,
    ]);
    const { paths } = await get("/openapi.json");
    expect(Object.keys(paths)).toContain("/admin/v1/tasks/{id}/events/stream");
  });

  it("refuses bad input by its name, and unknown tasks", async () => {
    await start();
    const cases: readonly (readonly [string, number, RegExp])[] = [
      ["/tasks?state=lost", 400, /^state must be one of/],
      ["/tasks?pageSize=0", 400, /^pageSize/],
      ["/tasks?pageToken=x", 400, /^pageToken/],
      ["/tasks?from=yesterday", 400, /^from must be a time/],
      [`/tasks?text=${"x".repeat(201)}`, 400, /^text must have at most 200/],
      ["/tasks/nothing", 404, /Task not found/],
      ["/tasks/0199a2b4-6c1d-7000-8f3e-2a90d1c4b7e6/events", 404, /Task not found/],
      ["/agents/nothing/cards", 404, /nothing/],
      ["/docs/guide/..%2F..%2Fpackage.json", 404, /Document not found/],
      ["/inbox?pageToken=1.x", 400, /^pageToken/],
      ["/deliveries?state=x", 400, /^state/],
    ];
    for (const [path, status, message] of cases) {
      const reply = await adminGet(server.url, path);
      expect([path, reply.status]).toEqual([path, status]);
      expect(reply.json.error?.message).toMatch(message);
    }
    expect((await adminPost(server.url, "/deliveries/redeliver", "[]")).status).toBe(400);
    expect((await adminPost(server.url, "/deliveries/redeliver", { taskId: 1 })).status).toBe(400);
  });
});

describe("the address of the server", () => {
  const root = async (accept: string): Promise<Response> =>
    fetch(`${server.url}/`, { headers: { accept }, redirect: "manual" });

  it("leads browsers to the console, and programs to the list of agents", async () => {
    await start();
    const browser = await root("text/html,application/xhtml+xml,*/*;q=0.8");
    expect([browser.status, browser.headers.get("location")]).toEqual([302, `${server.url}/console/`]);
    for (const accept of ["*/*", "application/json"]) expect((await root(accept)).status).toBe(200);
  });

  it("leads nowhere else without a console", async () => {
    server = await serve([echo], { console: "off" });
    expect((await root("text/html")).status).toBe(200);
  });
});
