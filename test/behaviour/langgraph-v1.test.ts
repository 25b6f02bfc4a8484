import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, echo } from "../support/agents.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/langgraph.md#methods: clients such as Mastra's call the methods of v1 at LangGraph's address. */

let server: TestServer;
let strict: TestServer;
beforeAll(async () => {
  server = await serve([echo, asker]);
  strict = await serve([echo], { langgraph: "strict" });
});
afterAll(() => Promise.all([server.stop(), strict.stop()]));

const at = (agent: string, { url } = server): string => `${url}/a2a/${agent}`;

describe("D11: methods of v1", () => {
  it("are answered in the shapes of v1; strictly, they are unknown", async () => {
    const call = (url: string, method: string, params: object) => rpc(url, method, params);
    const sent = (await call(at("echo"), "SendMessage", sendParams("hi"))).body.result.task;
    expect(sent).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    const got = (await call(at("echo"), "GetTask", { id: sent.id })).body.result;
    expect(got.artifacts[0].parts).toEqual([{ text: "hi" }]);
    const events = await (await openStream(at("echo"), "SendStreamingMessage", sendParams("hi"))).all();
    expect(events[0]?.data.result.task.status.state).toBe("TASK_STATE_SUBMITTED");
    expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
    const asked = (await call(at("asker"), "SendMessage", sendParams("hi"))).body.result.task;
    const canceled = (await call(at("asker"), "CancelTask", { id: asked.id })).body.result;
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect((await call(at("echo"), "GetTask", { id: "nope" })).body.error.code).toBe(-32001);
    const headers = { accept: "application/json" };
    const strictly = await rpc(at("echo", strict), "SendMessage", sendParams("hi"), headers);
    expect(strictly.body.error.code).toBe(-32601);
  });
});
