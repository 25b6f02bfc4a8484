import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type SseEvent, sendParams, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { foldText, stateOf, taskOf, textOf } from "../support/wire.ts";

/**
 * Two servers, one of which is a proxy for an agent of the other, or calls it; either is killed during a run.
 */

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const file = (name: string): string => join(folder.path, name);
const trail = (): readonly string[] =>
  existsSync(file("trail")) ? readFileSync(file("trail"), "utf8").trim().split("\n") : [];
const open = (): void => writeFileSync(file("open"), "");

const FLAGS = ["--durability", "process", "--log-level", "warn"];
const launch = (name: string, served: string, port = 0, flags: readonly string[] = []): Promise<Child> =>
  startChild({ agents: [served], data: file(`${name}-data`), port, flags: [...FLAGS, ...flags] });

/** Sends "before ", waits until it may continue, sends "after"; steps before a crash are not repeated. */
const WORK = (): string => `
    const { appendFileSync, existsSync } = await import("node:fs");
    await ctx.step("begin", () => appendFileSync(${JSON.stringify(file("trail"))}, "begun\\n"));
    yield ctx.text("before ");
    while (!existsSync(${JSON.stringify(file("open"))})) await sleep(5, undefined, { signal: ctx.signal });
    yield ctx.text("after");`;

async function startWorker(port = 0): Promise<Child> {
  if (!existsSync(file("there"))) mkdirSync(file("there"));
  return launch("there", writeAgent(file("there"), "worker", WORK()), port);
}

function writeGate(target: object): string {
  const config = file("dragoman.config.ts");
  const agents = [{ runtime: "remote", name: "gate", ...target }];
  writeFileSync(config, `export default ${JSON.stringify({ agents })};`);
  return config;
}

const begin = async (server: Child): Promise<string> => {
  const atOnce = { configuration: { returnImmediately: true } };
  return taskOf((await rpc(server.url, "SendMessage", { ...sendParams("go"), ...atOnce })).body).id;
};
const get = async (server: Child, id: string): Promise<object> =>
  (await rpc(server.url, "GetTask", { id })).body;
const untilText = (server: Child, id: string, text: string): Promise<void> =>
  until(async () => textOf(await get(server, id)).includes(text));
const settled = (server: Child, id: string): Promise<void> =>
  until(async () => !["submitted", "working"].includes(stateOf(await get(server, id)) ?? ""));

describe("an agent that is a proxy for another", () => {
  it("continues when the other server was killed and restarted", async () => {
    const worker = await startWorker();
    const gate = await launch("here", writeGate({ card: worker.url }));
    const stream = await openStream(gate.url, "SendStreamingMessage", sendParams("go"));
    const first = (await stream.next()) as SseEvent;
    const { id } = first.data.result.task;
    await untilText(gate, id, "before");
    await worker.kill();
    open();
    await startWorker(worker.port);
    const events = [first, ...(await stream.all())];
    expect(foldText(events)).toBe("before after");
    expect([stateOf(await get(gate, id)), trail()]).toEqual(["completed", ["begun"]]);
  });

  it("continues when both were killed, in either order", async () => {
    const worker = await startWorker();
    const gate = await launch("here", writeGate({ card: worker.url }));
    const id = await begin(gate);
    await untilText(gate, id, "before");
    await Promise.all([worker.kill(), gate.kill()]);
    open();
    // It is restarted first, and has to wait for the other.
    const again = await launch("here", file("dragoman.config.ts"), gate.port);
    await startWorker(worker.port);
    await settled(again, id);
    const body = await get(again, id);
    expect([stateOf(body), textOf(body), trail()]).toEqual(["completed", "before after", ["begun"]]);
    const log = await openStream(again.url, "SubscribeToTask", { id }, { "last-event-id": "0" });
    expect(foldText(await log.all())).toBe("before after");
  });

  it.each([
    ["langgraph", "/a2a/worker"],
    ["orloj", "/v1/agent-systems/worker/a2a"],
    ["arbiter", "/v1/a2a/agents/worker"],
    ["simple", "/"],
  ])("continues when either side is killed, one after the other, in %s", async (dialect, path) => {
    const worker = await startWorker();
    const gate = await launch("here", writeGate({ endpoint: worker.url + path, dialect }));
    const id = await begin(gate);
    // At the worker itself: some dialects show no text before the end.
    const listed = async (): Promise<string> =>
      JSON.stringify((await rpc(worker.url, "ListTasks", { includeArtifacts: true })).body);
    await until(async () => (await listed()).includes("before"));
    await worker.kill();
    const back = await startWorker(worker.port);
    await gate.kill();
    const again = await launch("here", file("dragoman.config.ts"), gate.port);
    open();
    await settled(again, id);
    const body = await get(again, id);
    expect([stateOf(body), textOf(body), trail()]).toEqual(["completed", "before after", ["begun"]]);
    await back.stop();
  });

  it("does not cancel the remote task when its own server stops", async () => {
    const worker = await startWorker();
    const gate = await launch("here", writeGate({ card: worker.url }), 0, ["--drain-ms", "100"]);
    const id = await begin(gate);
    await untilText(gate, id, "before");
    await gate.stop();
    open();
    const again = await launch("here", file("dragoman.config.ts"), gate.port);
    await settled(again, id);
    expect([textOf(await get(again, id)), trail()]).toEqual(["before after", ["begun"]]);
  });
});

describe("an agent that calls another", () => {
  const caller = (url: string): string => {
    const where = file("here");
    if (!existsSync(where)) mkdirSync(where);
    return writeAgent(
      where,
      "caller",
      `
    yield ctx.text("I hear: ");
    for await (const step of ctx.call.stream(${JSON.stringify(url)}, task.text, { trusted: true }))
      if (step.kind === "artifact") yield ctx.text(step.text);
    const { text } = await ctx.call(${JSON.stringify(url)}, "again", { trusted: true });
    yield ctx.text("; and again: " + text);`,
    );
  };

  it("continues the same call when its server was killed during it", async () => {
    const worker = await startWorker();
    const here = await launch("here", caller(worker.url));
    const id = await begin(here);
    await untilText(here, id, "before");
    await here.kill();
    open();
    const again = await launch("here", caller(worker.url), here.port);
    await settled(again, id);
    const body = await get(again, id);
    expect(textOf(body)).toBe("I hear: before after; and again: before after");
    const log = await openStream(again.url, "SubscribeToTask", { id }, { "last-event-id": "0" });
    expect(foldText(await log.all())).toBe("I hear: before after; and again: before after");
    // One task for each call, and no more.
    expect(trail()).toEqual(["begun", "begun"]);
  });
});
