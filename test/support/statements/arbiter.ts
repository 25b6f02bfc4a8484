import { expect } from "vitest";
import { openStream } from "../client.ts";
import { address, asTenant, CALLS, message, post, send } from "./arbiter-calls.ts";
import { gives, has, hasStatus, type Request, refuses } from "./checks.ts";
import { call, fetchBare, type Probe, type Reply } from "./probe.ts";
import type { Elsewhere, Section, Statement, VendorDocument } from "./statement.ts";

/** Arbiter, "POST /v1/a2a/agents/:id": tasks, errors and cancellation. */

const elsewhere = (name: string): Elsewhere => ({ file: "test/behaviour/arbiter.test.ts", name });
const requests = (name: string): Elsewhere => ({ file: "test/behaviour/arbiter-requests.test.ts", name });
const JSON_TYPE = { "content-type": "application/json" };

/** A task of an agent that does not end, by the id in the first record of its stream. */
async function begin(probe: Probe) {
  const url = (await probe.url()) + address("endless");
  const stream = await openStream(url, "message/stream", message());
  const id: string = (await stream.next())?.data.result.taskId;
  const ask = (method: string): Promise<Reply> => fetchBare(url, "POST", call(method, { id }), JSON_TYPE);
  const lastResult = async () => (await stream.all()).at(-1)?.data.result;
  return { id, ask, lastResult };
}
const LAST = { kind: "status-update", status: { state: "canceled" }, final: true };

/** Canceled by the method of A2A. */
async function byMethod(probe: Probe) {
  const { ask, lastResult } = await begin(probe);
  const running = (await ask("tasks/get")).json.result;
  const canceled = (await ask("tasks/cancel")).json.result;
  const last = await lastResult();
  return {
    running,
    canceled,
    last,
    stored: (await ask("tasks/get")).json.result,
    again: await ask("tasks/cancel"),
  };
}
/** Canceled by the path of requests. */
async function byRequest(probe: Probe) {
  const { id, ask, lastResult } = await begin(probe);
  const reply = await fetchBare(`${await probe.url()}/v1/requests/${id}/cancel`, "POST", "", JSON_TYPE);
  const last = await lastResult();
  return { id, reply, last, stored: (await ask("tasks/get")).json.result };
}

const ended =
  (method: string): Request =>
  async probe =>
    post(call(method, { id: (await send()(probe)).json.result.id }))(probe);
const resubscribed = (check: (all: readonly Reply["json"][]) => unknown) => async (probe: Probe) => {
  const { type, events } = await ended("tasks/resubscribe")(probe);
  expect(type).toBe("text/event-stream");
  check(events.map(({ data }) => data.result));
};

const TASKS: Section = {
  title: "tasks/get, tasks/cancel and tasks/resubscribe",
  statements: [
    ["`tasks/get` takes `id`", gives(ended("tasks/get"), { kind: "task" })],
    [
      "its result is the stored task",
      async probe =>
        expect((await ended("tasks/get")(probe)).json.result).toEqual((await send()(probe)).json.result),
    ],
    [
      "an ended task has its history",
      gives(ended("tasks/get"), { history: [{ role: "user" }, { role: "agent" }] }),
    ],
    [
      "a running one has none",
      async probe => expect((await probe.share(byMethod)).running).not.toHaveProperty("history"),
    ],
    [
      "a running one has no `status.message`",
      async probe => expect((await probe.share(byMethod)).running.status).not.toHaveProperty("message"),
    ],
    [
      "its state is there",
      async probe => expect((await probe.share(byMethod)).running.status.state).toBe("working"),
    ],
    ["an unknown task is TaskNotFound", refuses(post(call("tasks/get", { id: "nope" })), -32001)],
    [
      "a task of another tenant is, too",
      async probe => {
        const { id } = (await asTenant(probe, "one", call("message/send", message()))).json.result;
        const codes = ["one", "two"].map(
          async tenant => (await asTenant(probe, tenant, call("tasks/get", { id }))).json.error?.code,
        );
        expect(await Promise.all(codes)).toEqual([undefined, -32001]);
      },
    ],
    [
      "`tasks/cancel` takes `id` and returns the canceled task",
      async probe =>
        expect((await probe.share(byMethod)).canceled).toMatchObject({
          kind: "task",
          status: { state: "canceled" },
        }),
    ],
    [
      "a run that goes on is stopped",
      async probe => expect((await probe.share(byMethod)).last).toMatchObject(LAST),
    ],
    [
      "`canceled` is stored",
      async probe => expect((await probe.share(byMethod)).stored.status.state).toBe("canceled"),
    ],
    ["a terminal task is TaskNotCancelable", refuses(ended("tasks/cancel"), -32002)],
    ["`tasks/resubscribe` takes `id`", resubscribed(all => expect(all).toHaveLength(1))],
    ["its response is `text/event-stream`", resubscribed(all => expect(all[0].kind).toBe("status-update"))],
    [
      "it replays the events of the task",
      elsewhere("A11: a resubscription replays all events, then sends live ones"),
    ],
    [
      "then it continues live until the end",
      elsewhere("A11: a resubscription replays all events, then sends live ones"),
    ],
    [
      "events of Arbiter's own are `x-arbiter.<kind>` in the metadata",
      elsewhere("A11: usage is in the metadata of a status"),
    ],
    [
      "of a terminal task it sends one status with `final: true`",
      resubscribed(all => expect(all).toMatchObject([{ status: { state: "completed" }, final: true }])),
    ],
    [
      "it reads the same store as `GET /v1/requests/:id/events`",
      requests("A11: a task created in another dialect is a request, too"),
    ],
  ],
};

const unsupported = (name: string): Request =>
  post(call(`tasks/pushNotificationConfig/${name}`, { id: "x" }));
const UNSUPPORTED: Section = {
  title: "Unsupported",
  statements: [
    ...["set", "get", "list", "delete"].map(
      (name): Statement => [
        `\`tasks/pushNotificationConfig/${name}\` is UnsupportedOperation`,
        refuses(unsupported(name), -32004),
      ],
    ),
    [
      "with a stable message",
      async probe => {
        const replies = await Promise.all(
          ["set", "get", "list", "delete"].map(name => unsupported(name)(probe)),
        );
        expect(new Set(replies.map(({ json }) => json.error.message)).size).toBe(1);
      },
    ],
  ],
};

const old = post("{", "echo", { "a2a-version": "0.3" });
const ERRORS: Section = {
  title: "Error codes",
  statements: [
    ["-32700: the body is no JSON", refuses(post("{"), -32700)],
    ["-32600: it is no JSON-RPC request", refuses(post({ hello: 1 }), -32600)],
    ["-32601: the method is none of those that are supported", refuses(post(call("tasks/list", {})), -32601)],
    ["-32602: a required member of the params is missing", refuses(post(call("tasks/get", {})), -32602)],
    ["-32602: a member has another shape", refuses(send({ parts: "text" }), -32602)],
    ["-32603: a fault of the server", { file: "test/corpus/arbiter/faults.exchange", name: '"code":-32603' }],
    ["-32001: `tasks/get` of an unknown id", refuses(post(call("tasks/get", { id: "nope" })), -32001)],
    ["-32001: `tasks/cancel` of an unknown id", refuses(post(call("tasks/cancel", { id: "nope" })), -32001)],
    ["-32001: `message/send` to an unknown agent", refuses(send({}, "nope"), -32001)],
    [
      "-32002: `tasks/cancel` of a terminal task",
      async probe => expect((await probe.share(byMethod)).again.json.error.code).toBe(-32002),
    ],
    ["-32004: methods that are not handled", refuses(unsupported("set"), -32004)],
    ["-32005: a part whose kind is not `text`", refuses(send({ parts: [{ kind: "song" }] }), -32005)],
    ["-32006: the agent threw", refuses(send({}, "thrower"), -32006)],
    [
      "a failure that the agent reports is a failed task",
      gives(send({}, "failing"), { status: { state: "failed" } }),
    ],
    ["-32007: another `A2A-Version`", refuses(send({}, "echo", { "a2a-version": "2.0" }), -32007)],
    ["the version is checked before the envelope", refuses(old, -32007)],
    ["so that the `id` is null", has(old, { id: null })],
  ],
};

const CANCELLATION: Section = {
  title: "Cancellation and HTTP",
  statements: [
    [
      "`tasks/cancel` cancels",
      async probe => expect((await probe.share(byMethod)).canceled.status.state).toBe("canceled"),
    ],
    [
      "`POST /v1/requests/:id/cancel` cancels",
      async probe =>
        expect((await probe.share(byRequest)).reply).toMatchObject({
          status: 200,
          json: { cancelled: true },
        }),
    ],
    [
      "its id is that of the task",
      async probe => {
        const { id, reply, stored } = await probe.share(byRequest);
        expect([reply.json.request_id, stored.status.state]).toEqual([id, "canceled"]);
      },
    ],
    [
      "the stream ends with `canceled` and `final: true`",
      async probe => expect((await probe.share(byRequest)).last).toMatchObject(LAST),
    ],
    [
      "401: the token is missing",
      async probe =>
        expect((await asTenant(probe, undefined, call("tasks/get", { id: "x" }))).status).toBe(401),
    ],
    [
      "401: the token is invalid",
      async probe => {
        const { url } = await probe.guarded();
        const headers = { ...JSON_TYPE, authorization: "Bearer nonsense" };
        expect(
          (await fetchBare(url + address("echo"), "POST", call("tasks/get", { id: "x" }), headers)).status,
        ).toBe(401);
      },
    ],
    ["404: another URL", hasStatus(probe => probe.post("/v1/a2a/foo", {}), 404)],
    ["405: another verb", hasStatus(probe => probe.get(address("echo")), 405)],
    ["everything else is HTTP 200 with an error", refuses(post("[]"), -32600)],
    [
      "`GET /v1/a2a/agents/:id/agent-card.json`",
      hasStatus(probe => probe.get(`${address("words")}/agent-card.json`), 200),
    ],
    ["the well-known card", hasStatus(probe => probe.get("/.well-known/agent-card.json"), 200)],
    [
      "`POST /v1/orchestrate` has events of its own",
      { file: "test/corpus/arbiter/orchestrate.exchange", name: "A16" },
    ],
  ],
};

export const ARBITER: VendorDocument = {
  name: 'Arbiter "POST /v1/a2a/agents/:id"',
  page: "arbiter",
  sections: [...CALLS, TASKS, UNSUPPORTED, ERRORS, CANCELLATION],
};
