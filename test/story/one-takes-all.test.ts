import { afterEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type GuardedServer, serveGuarded } from "../support/callers.ts";
import { type RpcReply, rpc, until } from "../support/client.ts";
import { createGrpcClient, refusedBy } from "../support/grpc.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * Endless tasks in all run slots: other callers are answered, and calls that cannot start are refused with
 * 503.
 */

const RUNS = 16;
let guarded: GuardedServer | undefined;
let server: TestServer | undefined;
afterEach(async () => {
  await guarded?.stop();
  await server?.stop();
  guarded = server = undefined;
});

const worker: AgentDefinition = {
  name: "worker",
  replies: "task",
  async run(task, ctx) {
    if (task.text === "for ever")
      await new Promise(resolve => ctx.signal.addEventListener("abort", resolve, { once: true }));
    return "done";
  },
};
const atOnce = (text: string, more: object = {}): object => ({
  ...V1.sendParams(text, more),
  configuration: { returnImmediately: true },
});
const isRefused = ({ status, headers }: RpcReply): boolean =>
  status === 503 && Number(headers.get("retry-after")) > 0;

it("one tenant, and one caller, cannot take all runs; its further calls are refused", async () => {
  guarded = await serveGuarded([worker], { runsMax: RUNS, queueWaitMs: 200 });
  const { url, issue } = guarded;
  const greedy = await issue("greedy", { tenants: ["acme"] });
  const colleague = await issue("colleague", { tenants: ["acme"] });
  const other = await issue("other", { tenants: ["beta"] });
  const ids: string[] = [];
  for (let i = 0; i < 2 * RUNS; i++) {
    const headers = { ...greedy.headers, "idempotency-key": `call ${i}` };
    const reply = await rpc(url, "SendMessage", atOnce("for ever", { messageId: `m${i}` }), headers);
    if (reply.status === 200) ids.push(reply.body.result.task.id);
  }
  expect(ids.length).toBeGreaterThan(RUNS / 2);
  for (const { headers } of [other, colleague]) {
    const { body } = await rpc(url, "SendMessage", V1.sendParams("quick"), headers);
    expect(body.result.task.status.state).toBe("TASK_STATE_COMPLETED");
  }
  const send = () => rpc(url, "SendMessage", atOnce("more"), greedy.headers);
  await until(async () => isRefused(await send()));
  const before = await total();
  expect(isRefused(await send())).toBe(true);
  expect(await total()).toBe(before);
  // A recorded task can be read, and a repeated call is the same call.
  const again = await rpc(url, "SendMessage", atOnce("for ever", { messageId: "m0" }), {
    ...greedy.headers,
    "idempotency-key": "call 0",
  });
  expect([again.status, again.body.result?.task.id]).toEqual([200, ids[0]]);
  // Other callers are still answered.
  const { body } = await rpc(url, "SendMessage", V1.sendParams("quick"), other.headers);
  expect(body.result.task.status.state).toBe("TASK_STATE_COMPLETED");

  async function total(): Promise<number> {
    return (await rpc(url, "ListTasks", { pageSize: 1 }, greedy.headers)).body.result.totalSize;
  }
});

it("when all runs are taken and none ends, new messages are refused in every dialect, and accepted again when one has ended", async () => {
  server = await serve([worker], { runsMax: 2, queueWaitMs: 100 });
  const { url } = server;
  const first = (await rpcResult(url, "SendMessage", atOnce("for ever"))).task.id;
  await rpcResult(url, "SendMessage", atOnce("for ever"));
  await until(async () => isRefused(await rpc(url, "SendMessage", atOnce("more"))));
  expect(isRefused(await rpc(url, "SendMessage", V1.sendParams("more")))).toBe(true);
  expect(isRefused(await rpc(url, "SendStreamingMessage", V1.sendParams("more")))).toBe(true);
  const old = await rpc(url, "message/send", {
    message: { kind: "message", messageId: "x", role: "user", parts: [{ kind: "text", text: "more" }] },
  });
  expect([old.body.error !== undefined, Number(old.headers.get("retry-after"))]).toEqual([true, 5]);
  const rest = await fetch(`${url}/message:send`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify(V1.sendParams("more")),
  });
  expect([rest.status, rest.headers.get("retry-after")]).toEqual([503, "5"]);
  const grpc = createGrpcClient(new URL(url).host);
  const refusal = await refusedBy(grpc.ask("SendMessage", V1.sendParams("more")));
  expect(refusal.code).toBe(14);
  grpc.close();
  await rpcResult(url, "CancelTask", { id: first });
  await until(async () => {
    const reply = await rpc(url, "SendMessage", V1.sendParams("quick"));
    return reply.status === 200 && reply.body.result.task.status.state === "TASK_STATE_COMPLETED";
  });
});
