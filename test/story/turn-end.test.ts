import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { openStream, rpc, sendParams, sendParamsV03 } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, partsText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

/**
 * `lastChunk`: "If true, this is the final chunk of the artifact" (v1 §4.2.2). `@google/adk` 2.0.0 keeps the text of a
 * streamed turn, and its contextId, only if the last chunk of the artifact says so.
 */

/** Ends later than its last chunk, as agents do that wait for a model. */
const slow: AgentDefinition["run"] = async function* (_task, ctx) {
  yield ctx.text("one ");
  yield ctx.text("two ");
  yield ctx.text("three", { name: "aside" });
  await nextTurn();
  await nextTurn();
};
const AGENTS: readonly AgentDefinition[] = [
  { name: "slow", run: slow },
  { name: "open", closeArtifacts: false, run: slow },
  { name: "closing", closeArtifacts: true, run: slow },
  {
    name: "marking",
    async *run(_task, ctx) {
      yield ctx.text("one ");
      yield ctx.text("two ", { last: true });
      yield ctx.text("three", { name: "other", last: true });
    },
  },
  { name: "returning", closeArtifacts: true, run: () => "whole" },
  {
    name: "asking",
    closeArtifacts: true,
    async *run(_task, ctx) {
      yield ctx.text("thinking");
      yield ctx.ask("Well?");
    },
  },
  { name: "repeating", answerInStatus: true, closeArtifacts: true, run: slow },
  {
    name: "replying",
    async *run(_task, ctx) {
      yield ctx.status("thinking");
      yield ctx.reply("done");
    },
  },
  { name: "silent", answerInStatus: true, run: (_task, ctx) => ctx.data({ n: 1 }) },
];

let server: TestServer;
beforeAll(async () => {
  server = await serve(AGENTS);
});
afterAll(() => server.stop());

const url = (name: string): string => `${server.url}/agents/${name}`;

/** Of each artifact update: its text, and whether it is the last. */
async function chunksOf(
  name: string,
  method = "SendStreamingMessage",
  metadata?: object,
): Promise<(readonly [string, boolean])[]> {
  const more = { metadata };
  const params = method === "SendStreamingMessage" ? sendParams("go", more) : sendParamsV03("go", more);
  return readChunks(name, method, params);
}

async function readChunks(
  name: string,
  method: string,
  params: object,
): Promise<(readonly [string, boolean])[]> {
  const events = await (await openStream(url(name), method, params)).all();
  return events
    .map(({ data }) => data.result.artifactUpdate ?? (data.result.kind === "artifact-update" && data.result))
    .filter(update => update)
    .map(({ artifact, lastChunk }) => [partsText(artifact.parts), lastChunk === true] as const);
}

describe("the last chunk of an artifact", () => {
  it("says so only if the agent or its option does", async () => {
    expect((await chunksOf("slow")).map(([, isLast]) => isLast)).toEqual([false, false, false]);
  });

  it("is followed by an empty one for messages of ADK, which name its session, unless the agent forbids it", async () => {
    const adk = { adk_app_name: "app", adk_user_id: "user", adk_session_id: "session" };
    const isLast = async (name: string) =>
      (await chunksOf(name, "message/stream", adk)).map(([, last]) => last);
    expect(await isLast("slow")).toEqual([false, false, false, true, true]);
    expect(await isLast("open")).toEqual([false, false, false]);
  });

  it("is followed by the whole artifact for messages of ADK for Python, which marks what its user wrote", async () => {
    const parts = (part: object) => ({ parts: [{ ...part, metadata: { is_user_input: true } }] });
    const v1 = sendParams("go", parts({ text: "go" }));
    const v03 = sendParamsV03("go", parts({ kind: "text", text: "go" }));
    const whole = [["one two ", true] as const, ["three", true] as const];
    for (const name of ["slow", "closing"]) {
      expect((await readChunks(name, "SendStreamingMessage", v1)).slice(-2)).toEqual(whole);
      expect((await readChunks(name, "message/stream", v03)).slice(-2)).toEqual(whole);
      const { artifacts } = taskOf((await rpc(url(name), "SendMessage", v1)).body);
      expect(artifacts.map((one: { parts: [] }) => partsText(one.parts))).toEqual(["one two ", "three"]);
    }
    expect((await readChunks("marking", "SendStreamingMessage", v1)).at(-1)).toEqual(["one two ", true]);
    expect(await readChunks("returning", "SendStreamingMessage", v1)).toEqual([["whole", true]]);
    expect(await readChunks("open", "SendStreamingMessage", v1)).toHaveLength(3);
  });

  it("is followed by an empty one with closeArtifacts, once for each artifact", async () => {
    for (const method of ["SendStreamingMessage", "message/stream"])
      expect(await chunksOf("closing", method)).toEqual([
        ["one ", false],
        ["two ", false],
        ["three", false],
        ["", true],
        ["", true],
      ]);
    expect(await chunksOf("returning")).toEqual([["whole", true]]);
    expect(await chunksOf("asking")).toEqual([
      ["thinking", false],
      ["", true],
    ]);
  });

  it("leaves the stored artifacts as they are", async () => {
    const { body } = await rpc(url("closing"), "SendMessage", sendParams("go"));
    expect(taskOf(body).artifacts.map(({ parts }: { parts: [] }) => parts)).toEqual([
      [{ text: "one two " }],
      [{ text: "three" }],
    ]);
    const events = await (await openStream(url("closing"), "SendStreamingMessage", sendParams("go"))).all();
    expect(foldText(events.filter(event => summaryOf(event).text !== "three"))).toBe("one two ");
  });
});

describe("answerInStatus", () => {
  it("repeats the text of the answer in the completed status, and only there", async () => {
    const { body } = await rpc(url("repeating"), "SendMessage", sendParams("go"));
    expect([stateOf(body), textOf(body)]).toEqual(["completed", "one two three"]);
    expect(partsText(taskOf(body).status.message.parts)).toBe("one two three");
    const other = (await rpc(url("silent"), "SendMessage", sendParams("go"))).body;
    expect(taskOf(other).status.message).toBeUndefined();
    const off = (await rpc(url("slow"), "SendMessage", sendParams("go"))).body;
    expect(taskOf(off).status.message).toBeUndefined();
  });
});

it("a reply after a status is the message of the task, and names it (v1 §4.1.4, taskId)", async () => {
  const task = taskOf((await rpc(url("replying"), "SendMessage", sendParams("go"))).body);
  expect(task.status.message).toMatchObject({ taskId: task.id, contextId: task.contextId });
});
