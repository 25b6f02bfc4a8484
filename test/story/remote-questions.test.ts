import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { DIALECT_NAMES, type DialectName } from "../../src/client/protocols.ts";
import { remote } from "../../src/runtime/remote/index.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";
import { partsText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

/** A remote agent that asks, refuses or is canceled over there, in each dialect that the gateway supports. */

const PATHS: Partial<Record<DialectName, string>> = {
  langgraph: "/a2a/worker",
  orloj: "/v1/agent-systems/worker/a2a",
  arbiter: "/v1/a2a/agents/worker",
};

let there: TestServer;
let here: TestServer;
let proxy: TestProxy;
/** The ids of the remote tasks. */
let remoteIds: string[];
let gate: Gate;

const worker: AgentDefinition = {
  name: "worker",
  async *run(task, ctx) {
    remoteIds.push(task.id);
    if (task.text === "refuse") return yield ctx.reject("Not today");
    if (task.text === "wait") {
      yield ctx.text("begun");
      await new Promise<void>(resolve => ctx.signal.addEventListener("abort", () => resolve()));
      return;
    }
    if (task.text === "later") {
      yield ctx.status("hm");
      await gate.opened;
    }
    if (task.text === "sign in")
      return yield {
        type: "status",
        state: "auth-required",
        message: { ...task.message, messageId: "a", parts: [{ kind: "text", text: "Please sign in" }] },
      };
    if (task.turn === 1) return yield ctx.ask("Which colour?");
    if (task.turn === 2 && task.text !== "red") return yield ctx.ask("Which shade?");
    yield ctx.text(`chosen: ${task.text}`);
  },
};

beforeEach(async () => {
  remoteIds = [];
  gate = createGate();
  proxy = await startProxy();
});
afterEach(async () => {
  await here.stop();
  await there.stop();
  await proxy.close();
});

async function startBoth(dialect: DialectName): Promise<void> {
  there = await serve([worker], { publicUrl: proxy.url });
  proxy.target = there.url;
  const endpoint = `${proxy.url}${PATHS[dialect] ?? "/"}`;
  here = await serve([remote({ name: "gate", endpoint, dialect })]);
}

const send = async (text: string, task?: { id: string; contextId: string }): Promise<object> =>
  (
    await rpc(
      here.url,
      "SendMessage",
      sendParams(text, task && { taskId: task.id, contextId: task.contextId }),
    )
  ).body;
const question = (body: object): string => partsText(taskOf(body).status.message?.parts);

describe.each(DIALECT_NAMES)("a remote agent that speaks %s", dialect => {
  it("asks twice, and gets both answers", async () => {
    await startBoth(dialect);
    const first = await send("paint");
    expect([stateOf(first), question(first)]).toEqual(["input-required", "Which colour?"]);
    // In Arbiter's dialect every message creates a task.
    if (dialect === "arbiter") return;
    const second = await send("blue", taskOf(first));
    expect([stateOf(second), question(second)]).toEqual(["input-required", "Which shade?"]);
    const third = await send("navy", taskOf(first));
    expect([stateOf(third), textOf(third)]).toEqual(["completed", "chosen: navy"]);
    expect(new Set(remoteIds).size).toBe(1);
  });

  it("asks for authorization, refuses", async () => {
    await startBoth(dialect);
    const asked = await send("sign in");
    // simple_a2a, Orloj and v0.1 have no word for it: there it is a question.
    expect(["auth-required", "input-required"]).toContain(stateOf(asked));
    expect(question(asked)).toBe("Please sign in");
    const refused = await send("refuse");
    // v0.1 has no word for it.
    expect(["rejected", "failed"]).toContain(stateOf(refused));
    expect(question(refused)).toBe("Not today");
  });

  it("is canceled over there", async () => {
    await startBoth(dialect);
    const sent = send("wait");
    await until(async () => remoteIds.length === 1);
    await rpc(there.url, "CancelTask", { id: remoteIds[0] });
    expect(stateOf(await sent)).toBe("canceled");
  });

  it("asks while the connection of the gateway is lost", async () => {
    await startBoth(dialect);
    const stream = await openStream(here.url, "SendStreamingMessage", sendParams("later"));
    let last = await stream.next();
    for (; last; last = await stream.next()) if (summaryOf(last).text.includes("hm")) break;
    proxy.cut();
    gate.open();
    let state = "";
    for (; last; last = await stream.next()) state = stateOf(last.data) ?? state;
    expect(state).toBe("input-required");
  });
});
