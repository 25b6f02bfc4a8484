import { expect } from "vitest";
import { LIMITS } from "../../../src/model/index.ts";
import { frames, gives, has, hasStatus, type Request, refuses } from "./checks.ts";
import { call, fetchBare, type Probe } from "./probe.ts";
import { always, type Section, type Statement } from "./statement.ts";

/** Orloj, "A2A JSON-RPC": endpoints, requests and methods. */

export const system = (agent: string): string => `/v1/agent-systems/${agent}/a2a`;
export const post =
  (body: unknown, agent = "echo"): Request =>
  probe =>
    probe.post(system(agent), body);
export const params = (id: string, more: object = {}) => ({
  id,
  message: { role: "user", parts: [{ type: "text", text: "Summarize this document" }] },
  ...more,
});
export const send = (id: string, agent?: string, more: object = {}): Request =>
  post(call("tasks/send", params(id, more), { id: "req-1" }), agent);
export const stream = (id: string, agent?: string): Request =>
  post(call("tasks/sendSubscribe", params(id)), agent);

/** A stream of a task that is canceled while it runs, and the result of its cancellation. */
export async function cancel(probe: Probe) {
  const stopped = stream("task-endless", "endless")(probe);
  const url = (await probe.url()) + system("endless");
  const ask = (method: string, more: object = {}) =>
    fetchBare(url, "POST", call(method, { id: "task-endless", ...more }), {
      "content-type": "application/json",
    });
  let running = await ask("tasks/get");
  while (running.json.result?.status.state !== "working") running = await ask("tasks/get");
  const canceled = (await ask("tasks/cancel", { reason: "No longer needed" })).json.result;
  return { running: running.json.result, canceled, events: (await stopped).events };
}

const shared =
  (more: object): Request =>
  probe =>
    probe.post("/a2a", call("tasks/send", params("task-shared", more)));

/** Status of a call without a token and with one. */
const asCaller =
  (path: string, metadata?: object): ((probe: Probe) => Promise<readonly number[]>) =>
  async probe => {
    const guarded = await probe.guarded();
    const { headers } = await guarded.issue("caller");
    const body = call("tasks/send", params(`task${path}`, { metadata }));
    const type = { "content-type": "application/json" };
    const replies = [type, { ...type, ...headers }].map(one =>
      fetchBare(guarded.url + path, "POST", body, one),
    );
    return (await Promise.all(replies)).map(({ status }) => status);
  };

const ENDPOINTS: Section = {
  title: "Endpoints",
  statements: [
    ["JSON-RPC 2.0 over HTTP", has(send("task-1"), { jsonrpc: "2.0", id: "req-1", result: {} })],
    ["only POST, at the shared endpoint", hasStatus(probe => probe.get("/a2a"), 405)],
    ["only POST, at the endpoint of a system", hasStatus(probe => probe.get(system("echo")), 405)],
    [
      "only `Content-Type: application/json`",
      has(
        probe =>
          probe.send("POST", system("echo"), call("tasks/get", { id: "x" }), {
            "content-type": "text/plain",
          }),
        { error: {} },
      ),
    ],
    [
      "`POST /a2a` finds its system in the params",
      gives(shared({ metadata: { agent: "echo" } }), { status: { state: "completed" } }),
    ],
    [
      "or it is the only system",
      async probe => {
        const url = await probe.url("echo", true);
        const reply = await fetchBare(`${url}/a2a`, "POST", call("tasks/send", params("task-only")), {
          "content-type": "application/json",
        });
        expect(reply.json.result.status.state).toBe("completed");
      },
    ],
    [
      "`POST /a2a` needs a bearer token if authentication is enabled",
      async probe => expect(await asCaller("/a2a", { agent: "echo" })(probe)).toEqual([401, 200]),
    ],
    [
      "`POST /v1/agent-systems/{name}/a2a`: the name in the path is the system",
      gives(send("task-2", "mirror"), { artifacts: [{ name: "mirror" }] }),
    ],
    [
      "it needs a bearer token if authentication is enabled",
      async probe => expect(await asCaller(system("echo"))(probe)).toEqual([401, 200]),
    ],
    ["without authentication no token is needed", hasStatus(send("task-1"), 200)],
    [
      "`/v1/agents/{name}/a2a` is the same",
      gives(probe => probe.post("/v1/agents/echo/a2a", call("tasks/send", params("task-old"))), {
        status: { state: "completed" },
      }),
    ],
  ],
};

const ENVELOPE: Section = {
  title: "Request format",
  statements: [
    ["all methods have the standard envelope", has(send("task-1"), { jsonrpc: "2.0" })],
    ["`id` is a string", has(post(call("tasks/get", { id: "x" }, { id: "req-9" })), { id: "req-9" })],
    ["or an integer", has(post(call("tasks/get", { id: "x" }, { id: 9 })), { id: 9 })],
    [
      "without it the request is a notification, without a response body",
      async probe =>
        expect((await post(call("tasks/get", { id: "x" }, { id: undefined }))(probe)).text).toBe(""),
    ],
  ],
};

const EXAMPLE = send("task-001", "summarizer", { metadata: { source: "external-workflow" } });
const TEXT = [{ type: "text", text: expect.any(String) }];
const SEND: Section = {
  title: "tasks/send",
  statements: [
    ["creates a task", gives(send("task-new"), { id: "task-new" })],
    [
      "waits for its completion and returns the final state",
      gives(send("task-1"), { status: { state: "completed" } }),
    ],
    [
      "`id` is required: a request without it is refused",
      refuses(post(call("tasks/send", { ...params(""), id: undefined })), -32602),
    ],
    ["`id` is a string", refuses(post(call("tasks/send", { ...params(""), id: 7 })), -32602)],
    ["`id` is chosen by the client", gives(post(call("tasks/get", { id: "task-1" })), { id: "task-1" })],
    ["`message` is required", refuses(post(call("tasks/send", { id: "task-x" })), -32602)],
    [
      "`message` is the input of the agent",
      gives(send("task-1"), { artifacts: [{ parts: [{ type: "text", text: "Summarize this document" }] }] }),
    ],
    ["`metadata` is optional", gives(send("task-1"), { status: { state: "completed" } })],
    ["`metadata` is a map of strings", refuses(send("task-x", "echo", { metadata: { a: 1 } }), -32602)],
    ["`metadata` is attached to the task", gives(EXAMPLE, { metadata: { source: "external-workflow" } })],
    ["the example: `result.status.state`", gives(EXAMPLE, { status: { state: "completed" } })],
    [
      "the example: a message of the agent in the status",
      gives(EXAMPLE, {
        status: { message: { role: "agent", parts: [{ type: "text", text: "Here is the summary..." }] } },
      }),
    ],
    [
      "the example: an artifact with `name`, `parts` and `index`",
      gives(EXAMPLE, {
        artifacts: [{ name: "summary", parts: [{ type: "text", text: "..." }], index: 0 }, {}],
      }),
    ],
    [
      "the example: the result has another id than the request",
      gives(EXAMPLE, { id: expect.not.stringMatching("task-001") }),
      always(
        'the table calls `id` "client-provided" and the example returns another one: the caller\'s is returned, and the task is found by both (O6)',
      ),
    ],
  ],
};

const TASKS: Section = {
  title: "tasks/get and tasks/cancel",
  statements: [
    [
      "`tasks/get` has the current state of a task",
      async probe => expect((await probe.share(cancel)).running.status.state).toBe("working"),
    ],
    ["its `id` is required", refuses(post(call("tasks/get", {})), -32602)],
    ["its `id` is a string", refuses(post(call("tasks/get", { id: 7 })), -32602)],
    [
      "its result is a task",
      async probe => {
        const { result } = (await send("task-1")(probe)).json;
        expect((await post(call("tasks/get", { id: "task-1" }))(probe)).json.result).toEqual(result);
      },
    ],
    [
      "`tasks/cancel` cancels a running task",
      async probe => expect((await probe.share(cancel)).canceled.id).toBe("task-endless"),
    ],
    ["its `id` is required", refuses(post(call("tasks/cancel", {})), -32602)],
    [
      "its `reason` is optional",
      gives(
        probe =>
          send(
            "task-ask",
            "asker",
          )(probe).then(() => post(call("tasks/cancel", { id: "task-ask" }), "asker")(probe)),
        { status: { state: "canceled" } },
      ),
    ],
    ["its `reason` is a string", refuses(post(call("tasks/cancel", { id: "task-1", reason: 7 })), -32602)],
    [
      "its `reason` is kept",
      async probe =>
        expect((await probe.share(cancel)).canceled.status.message.parts[0].text).toBe("No longer needed"),
    ],
    [
      "its result is a task with the state `canceled`",
      async probe => expect((await probe.share(cancel)).canceled.status.state).toBe("canceled"),
    ],
  ],
};

const ends = (state: string, agent: string): Statement => [
  `the stream ends with \`${state}\``,
  frames(stream(`stream-${agent}`, agent), all => expect(all.at(-1).status.state).toBe(state)),
];
const STREAM: Section = {
  title: "tasks/sendSubscribe",
  statements: [
    ["creates a task", frames(stream("stream-new"), all => expect(all[0].id).toBe("stream-new"))],
    [
      "the response is a stream of Server-Sent Events",
      frames(stream("stream-new"), all => expect(all.length).toBeGreaterThan(1)),
    ],
    [
      "the parameters are those of `tasks/send`: `id`",
      refuses(post(call("tasks/sendSubscribe", { ...params(""), id: undefined })), -32602),
    ],
    ["and `message`", refuses(post(call("tasks/sendSubscribe", { id: "stream-x" })), -32602)],
    [
      "events are called `status`",
      async probe =>
        expect(new Set((await stream("stream-new")(probe)).events.map(({ event }) => event))).toEqual(
          new Set(["status"]),
        ),
    ],
    [
      "there is one for each transition",
      frames(stream("stream-new"), all =>
        expect(all.map(({ status }) => status.state)).toEqual(
          expect.arrayContaining(["working", "completed"]),
        ),
      ),
    ],
    [
      "each has the whole task: `id`",
      frames(stream("stream-new"), all => expect(new Set(all.map(({ id }) => id)).size).toBe(1)),
    ],
    [
      "`status`",
      frames(stream("stream-new"), all => expect(all.every(({ status }) => status.state)).toBe(true)),
    ],
    ["`artifacts`", frames(stream("stream-new"), all => expect(all.at(-1).artifacts).toHaveLength(1))],
    [
      "they have no envelope",
      frames(stream("stream-new"), all => expect(all.some(one => "jsonrpc" in one)).toBe(false)),
    ],
    [
      "the comment `: heartbeat` keeps the connection alive",
      { file: "test/behaviour/orloj.test.ts", name: "have a heartbeat" },
    ],
    ["it is sent every 15 s", async () => expect(LIMITS.heartbeatMs).toBe(15_000)],
    ["it is no event", { file: "test/behaviour/orloj.test.ts", name: "\\n: heartbeat\\n\\n" }],
    ends("completed", "words"),
    ends("failed", "failing"),
    ends("rejected", "rejecting"),
    [
      "the stream ends with `canceled`",
      async probe => expect((await probe.share(cancel)).events.at(-1)?.data.status.state).toBe("canceled"),
    ],
    [
      "the stream stays open at `input-required`",
      { file: "test/behaviour/orloj.test.ts", name: "stay open while the task asks, and end with it" },
    ],
    [
      "the example: `working` before the end",
      frames(stream("stream-new"), all => expect(all.at(-2)?.status).toMatchObject({ state: "working" })),
    ],
    [
      "the example: a message of the agent with the end",
      frames(stream("stream-new"), all =>
        expect(all.at(-1).status.message).toMatchObject({ role: "agent", parts: TEXT }),
      ),
    ],
    [
      "the example: `artifacts` is there, even if it is empty",
      frames(stream("stream-replier", "replier"), all => expect(all.at(-1).artifacts).toEqual([])),
    ],
  ],
};

export const CALLS: readonly Section[] = [ENDPOINTS, ENVELOPE, SEND, TASKS, STREAM];
