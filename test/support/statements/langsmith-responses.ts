import { expect } from "vitest";
import { frames, gives, has, hasStatus, refuses } from "./checks.ts";
import { artifact, CALLS, CONTEXT, message, post, read, send, stream } from "./langsmith-calls.ts";
import { call, type Probe } from "./probe.ts";
import { always, byDefault, type Section, type Statement, type VendorDocument } from "./statement.ts";

/** LangSmith, "A2A JSON-RPC": the examples and the responses. */

const text = (value: string) => ({ kind: "text", text: value });
const STREAM = { accept: "text/event-stream" };

/** A question, and its answer in the same context and task. */
async function resume(probe: Probe, agent: string, parts: readonly object[]) {
  const asked = (await send({ contextId: "thread-123" }, agent)(probe)).json.result;
  // The document writes the id of a task after that of its thread.
  const taskId = `${asked.contextId}:${asked.id}`;
  const body = message({ contextId: "thread-123", parts, messageId: "msg-2", taskId });
  const { json } = await post(call("message/send", body, { id: "2" }), agent)(probe);
  return { asked, answered: json.result };
}
const textAnswer = (probe: Probe) => resume(probe, "asker", [text("Here is the info you asked for.")]);
const dataAnswer = (probe: Probe) =>
  resume(probe, "doubter", [
    {
      kind: "data",
      data: {
        resume: [
          { id: "interrupt-1", value: { choice: "A" } },
          { id: "interrupt-2", value: { choice: "B" } },
        ],
      },
    },
  ]);

const EXAMPLES: Section = {
  title: "Examples of requests",
  statements: [
    [
      "a message of text and data",
      gives(
        send(
          {
            contextId: CONTEXT,
            parts: [text("Hello from A2A"), { kind: "data", data: { locale: "en-US" } }],
          },
          "input",
        ),
        { artifacts: [{ parts: [{ kind: "data", data: { text: "Hello from A2A", locale: "en-US" } }] }] },
      ),
    ],
    [
      "a streamed message",
      frames(stream({ contextId: CONTEXT, parts: [text("Stream this response")], messageId: "msg-2" }), all =>
        expect(all.at(-1).result).toMatchObject({ status: { state: "completed" }, final: true }),
      ),
    ],
    ["`tasks/get` with a `historyLength` of 10", gives(read({ historyLength: 10 }), { kind: "task" })],
    [
      "`tasks/cancel` of an unknown run",
      has(post(call("tasks/cancel", { id: "run-uuid", contextId: CONTEXT })), { error: {} }),
    ],
    [
      "the same `contextId` in later turns keeps the state of the conversation",
      async probe => {
        const turn = (word: string) =>
          stream({ contextId: "turns", parts: [text(word)], messageId: word }, "memory");
        await turn("Hello!")(probe);
        expect((await turn("Again")(probe)).text).toContain('"text":"Hello!"');
      },
    ],
    [
      "`contextId` may be any string: `thread-123`",
      gives(send({ contextId: "thread-123" }), { contextId: "thread-123" }),
    ],
    [
      "a task that asks is `input-required`",
      async probe => expect((await probe.share(textAnswer)).asked.status.state).toBe("input-required"),
    ],
    [
      "a text with the same `contextId` and `taskId` resumes it",
      async probe => {
        const { asked, answered } = await probe.share(textAnswer);
        expect(answered).toMatchObject({ id: asked.id, status: { state: "completed" } });
      },
    ],
    [
      "the agent gets that text",
      async probe =>
        expect((await probe.share(textAnswer)).answered).toMatchObject(
          artifact("You chose Here is the info you asked for."),
        ),
    ],
    [
      "parallel interrupts are resumed by a data part with `resume`",
      async probe => expect((await probe.share(dataAnswer)).answered.status.state).toBe("completed"),
    ],
    [
      "each answer has the `id` of its interrupt and a `value`",
      async probe =>
        expect((await probe.share(dataAnswer)).answered.artifacts[0].parts[0].data).toEqual({
          "interrupt-1": { choice: "A" },
          "interrupt-2": { choice: "B" },
        }),
    ],
  ],
};

const NO_500 = always("an internal error of a readable call is -32603 in an envelope with HTTP 200");
const NO_400 = always(
  "the document contradicts itself: its example of -32602 is a response with HTTP 200, and so is every one here",
);

const RESPONSES: Section = {
  title: "Responses",
  statements: [
    ["200: a JSON-RPC response", has(send(), { jsonrpc: "2.0", id: "1", result: {} })],
    [
      "it is `application/json`",
      async probe => expect((await send()(probe)).type).toMatch(/^application\/json/),
    ],
    [
      "for `message/stream` it is an SSE stream of envelopes",
      frames(stream(), all => expect(all[0]).toMatchObject({ jsonrpc: "2.0", id: "1" })),
    ],
    ['`jsonrpc` is "2.0"', has(read({}), { jsonrpc: "2.0" })],
    ["`id` is a string", has(post(call("message/send", message(), { id: "7" })), { id: "7" })],
    ["`result` is an object", has(read({}), { result: {} })],
    ["`error` has an integer `code`", has(read({ id: "x" }), { error: { code: expect.any(Number) } })],
    ["`error` has a `message`", has(read({ id: "x" }), { error: { message: expect.any(String) } })],
    ["errors have `jsonrpc` and `id`, too", has(read({ id: "x" }), { jsonrpc: "2.0", id: "1" })],
    ...Object.entries({
      kind: "task",
      id: expect.any(String),
      contextId: expect.any(String),
      status: { state: "completed" },
      artifacts: [{ artifactId: expect.any(String) }],
    }).map(([member, value]): Statement => [`a task has \`${member}\``, gives(send(), { [member]: value })]),
    [
      "the artifact is called `Assistant Response`",
      gives(send(), { artifacts: [{ name: "Assistant Response" }] }),
    ],
    ["its parts are text", gives(send(), artifact("Hello"))],
    [
      'a missing `contextId` is -32602, "Invalid request: Missing required parameter: contextId"',
      refuses(read({ contextId: undefined }), -32602, {
        message: "Invalid request: Missing required parameter: contextId",
      }),
      byDefault("`contextId` may be missing: clients such as Mastra's send none"),
    ],
    [
      "a missing `id` has the same message with its name",
      refuses(read({ id: undefined }), -32602, {
        message: "Invalid request: Missing required parameter: id",
      }),
    ],
    [
      "a frame of a stream is a line that begins with `data:`",
      async probe => expect((await stream()(probe)).text).toMatch(/^data: \{"jsonrpc":"2.0"/m),
    ],
    [
      "updates of the status have `kind`, `taskId`, `contextId`, `status` and `final`",
      frames(stream({ contextId: CONTEXT }), all => {
        const update = all.find(
          ({ result }) => result.status?.state === "working" && result.kind === "status-update",
        );
        expect(update.result).toMatchObject({ taskId: expect.any(String), contextId: CONTEXT, final: false });
      }),
    ],
    [
      "a stream has the `id` of the request in each frame",
      frames(stream(), all => expect(all.every(({ id }) => id === "1")).toBe(true)),
    ],
    [
      "only the last frame has `final: true`",
      frames(stream(), all => expect(all.findIndex(({ result }) => result.final)).toBe(all.length - 1)),
    ],
    ["400: invalid JSON", hasStatus(post("{"), 400)],
    ["400: JSON that is no JSON-RPC call", hasStatus(post({ hello: 1 }), 400)],
    ["400: invalid params", hasStatus(post(call("message/send", {})), 400), NO_400],
    ["400: `Accept` is missing", hasStatus(post(call("tasks/get", {}), "echo", {}), 400)],
    ["404: the assistant is not found", hasStatus(send({}, "nope"), 404)],
    ["404 for streams, too", hasStatus(post(call("message/stream", message()), "nope", STREAM), 404)],
    ["500: internal server error", { file: "test/corpus/langgraph/faults.exchange", name: "-32603" }, NO_500],
  ],
};

const API: Section = {
  title: "The other interfaces of the server (tags)",
  statements: [
    ["assistants", hasStatus(probe => probe.get("/assistants/echo"), 200)],
    [
      "a thread has the outputs of its runs",
      {
        file: "test/conformance/langgraph-sdk.test.ts",
        name: "state is set as a node, read at a checkpoint, and forked",
      },
    ],
    [
      "a run on a thread updates its state",
      {
        file: "test/conformance/langgraph-sdk.test.ts",
        name: "stream tokens, values and updates, and end with the state",
      },
    ],
    [
      "stateless runs",
      { file: "test/conformance/langgraph-sdk.test.ts", name: "without a thread leave none behind" },
    ],
    [
      "crons: runs by a schedule",
      { file: "test/story/crons.test.ts", name: "times that were missed begin one run at the next start" },
    ],
    [
      "crons: in one thread or in a new one each time",
      {
        file: "test/behaviour/langgraph-store.test.ts",
        name: "are created, read, changed, found and deleted",
      },
    ],
    [
      "the store: values by key, available from any thread",
      { file: "test/behaviour/langgraph-store.test.ts", name: "puts, gets, searches and deletes items" },
    ],
    [
      "MCP",
      { file: "test/behaviour/langgraph-mcp.test.ts", name: "a call runs the graph and returns its values" },
    ],
    ["health checks", hasStatus(probe => probe.get("/ok"), 200)],
    ["metrics", hasStatus(probe => probe.get("/metrics"), 200)],
    ["information about the server", hasStatus(probe => probe.get("/info"), 200)],
  ],
};

export const LANGSMITH_JSON_RPC: VendorDocument = {
  name: 'LangSmith "A2A JSON-RPC"',
  page: "langgraph",
  sections: [...CALLS, EXAMPLES, RESPONSES, API],
};
