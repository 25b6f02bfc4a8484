import { expect } from "vitest";
import { frames, gives, has, lacks, type Request, refuses } from "./checks.ts";
import { CALLS, cancel, params, post, send, stream } from "./orloj-calls.ts";
import { call } from "./probe.ts";
import type { Section, Statement, VendorDocument } from "./statement.ts";

/** Orloj, "A2A JSON-RPC": errors and types. */

const unknown = post(call("tasks/get", { id: "a2a-task-unknown" }, { id: "req-4" }));
const ERRORS: Section = {
  title: "Error codes",
  statements: [
    ["-32700: invalid JSON", refuses(post("{"), -32700)],
    ["-32600: `jsonrpc` is missing", refuses(post({ id: "1", method: "tasks/get", params: {} }), -32600)],
    ["-32600: `method` is missing", refuses(post({ jsonrpc: "2.0", id: "1", params: {} }), -32600)],
    ["-32601: an unknown method", refuses(post(call("tasks/sing", {})), -32601)],
    ["-32602: invalid parameters", refuses(post(call("tasks/send", { id: "x", message: 7 })), -32602)],
    ["-32603: a failure of the server", { file: "test/corpus/orloj/faults.exchange", name: '"code":-32603' }],
    ["-32001: `tasks/get` of an unknown task", refuses(unknown, -32001)],
    [
      "-32001: `tasks/cancel` of an unknown task",
      refuses(post(call("tasks/cancel", { id: "a2a-task-unknown" })), -32001),
    ],
    [
      "-32002: the task has been canceled",
      async probe => {
        await probe.share(cancel);
        await refuses(send("task-endless", "endless"), -32002)(probe);
      },
    ],
    ["-32003: the agent does not exist", refuses(send("task-x", "nope"), -32003)],
    ["-32003: A2A is not enabled for it", refuses(send("task-x", "hidden"), -32003)],
    [
      "-32003 at the shared endpoint, too",
      refuses(
        probe => probe.post("/a2a", call("tasks/send", params("task-x", { metadata: { agent: "nope" } }))),
        -32003,
      ),
    ],
    ["the example: the `id` of the request", has(unknown, { id: "req-4" })],
    ['the example: the message "task not found"', refuses(unknown, -32001, { message: "task not found" })],
    ["the example: `data.task_id`", refuses(unknown, -32001, { data: { task_id: "a2a-task-unknown" } })],
  ],
};

const TASK: Section = {
  title: "A2ATask and A2AStatus",
  statements: [
    ["`id` identifies the task", gives(send("task-1"), { id: "task-1" })],
    ["`status`", gives(send("task-1"), { status: {} })],
    ["`artifacts` are the output", gives(send("task-1"), { artifacts: [{}] })],
    [
      "`history` has the messages if `stateTransitionHistory` is enabled",
      gives(send("task-1", "chronicler"), { history: [{ role: "user", parts: [{ type: "text" }] }] }),
    ],
    ["there is no `history` otherwise", lacks(send("task-1"), "history")],
    [
      "`metadata` of the task",
      gives(send("task-m", "echo", { metadata: { a: "b" } }), { metadata: { a: "b" } }),
    ],
    ["the state `submitted`", { file: "test/corpus/orloj/stream.exchange", name: '"state":"submitted"' }],
    [
      "the state `working`",
      frames(stream("stream-new"), all => expect(all.map(({ status }) => status.state)).toContain("working")),
    ],
    [
      "the state `canceled`",
      async probe => expect((await probe.share(cancel)).canceled.status.state).toBe("canceled"),
    ],
    ...Object.entries({
      asker: "input-required",
      echo: "completed",
      failing: "failed",
      rejecting: "rejected",
    }).map(
      ([agent, state]): Statement => [
        `the state \`${state}\``,
        gives(send("task-state", agent), { status: { state } }),
      ],
    ),
    [
      "no other states: an agent that needs credentials is `input-required`",
      gives(send("task-state", "locked"), { status: { state: "input-required" } }),
    ],
    [
      "`message` of the status is the agent's",
      gives(send("task-state", "asker"), { status: { message: { role: "agent" } } }),
    ],
    [
      "`message` is optional",
      async probe => expect((await probe.share(cancel)).running.status).toHaveProperty("state"),
    ],
  ],
};

const parts = (...list: readonly object[]): Request =>
  send(`parts-${JSON.stringify(list)}`, "mirror", { message: { role: "user", parts: list } });
const mirrored = (...list: readonly object[]) => ({ artifacts: [{ parts: list }] });
const TEXT = { type: "text", text: "hi" };
const TYPES: Section = {
  title: "A2AMessage, A2APart and A2AArtifact",
  statements: [
    ...["user", "agent"].map(
      (role): Statement => [
        `the role \`${role}\``,
        gives(send(`role-${role}`, "echo", { message: { role, parts: [TEXT] } }), {
          status: { state: "completed" },
        }),
      ],
    ),
    [
      "no other role",
      refuses(send("role-x", "echo", { message: { role: "system", parts: [TEXT] } }), -32602),
    ],
    [
      "messages of the agent have the role `agent`",
      gives(send("task-1"), { status: { message: { role: "agent" } } }),
    ],
    ["`parts` is the content", gives(parts(TEXT), mirrored(TEXT))],
    [
      "`type` of a part",
      refuses(send("type-x", "echo", { message: { role: "user", parts: [{ type: "song" }] } }), -32602),
    ],
    [
      "`text`, if the type is `text`",
      refuses(send("text-x", "echo", { message: { role: "user", parts: [{ type: "text" }] } }), -32602),
    ],
    [
      "`data`, if the type is `data`",
      gives(parts({ type: "data", data: { a: 1 } }), mirrored({ type: "data", data: { a: 1 } })),
    ],
    [
      "`data` is any JSON",
      gives(parts({ type: "data", data: [1, "x", null] }), mirrored({ type: "data", data: [1, "x", null] })),
    ],
    [
      "`metadata` of a part",
      gives(parts({ ...TEXT, metadata: { lang: "en" } }), mirrored({ ...TEXT, metadata: { lang: "en" } })),
    ],
    [
      "`name` of an artifact",
      gives(send("task-1", "summarizer"), { artifacts: [{ name: "summary" }, { name: "counts" }] }),
    ],
    [
      "`description` of an artifact",
      gives(send("task-1", "summarizer"), { artifacts: [{}, { description: "How many" }] }),
    ],
    [
      "`parts` of an artifact",
      gives(send("task-1", "summarizer"), {
        artifacts: [{ parts: [{ type: "text" }] }, { parts: [{ type: "data", data: { words: 2 } }] }],
      }),
    ],
    [
      "`index` is the order of artifacts",
      gives(send("task-1", "summarizer"), { artifacts: [{ index: 0 }, { index: 1 }] }),
    ],
  ],
};

export const ORLOJ: VendorDocument = {
  name: 'Orloj "A2A JSON-RPC"',
  page: "orloj",
  sections: [...CALLS, ERRORS, TASK, TYPES],
};
