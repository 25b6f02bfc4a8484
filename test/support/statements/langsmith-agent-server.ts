import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { frames, gives, has, hasStatus, type Request, refuses } from "./checks.ts";
import { artifact, CONTEXT, post, read, send, stream } from "./langsmith-calls.ts";
import { call, type Probe } from "./probe.ts";
import { byDefault, type Elsewhere, type Section, type VendorDocument } from "./statement.ts";

/** LangSmith, "A2A endpoint in Agent Server". */

const python = (name: string): Elsewhere => ({ file: "test/judges/python-server.test.ts", name });
const traces = (name: string): Elsewhere => ({ file: "test/process/traces.test.ts", name });
const threads = (name: string): Elsewhere => ({ file: "test/story/threads.test.ts", name });
const UNCHANGED = python("the agent of LangSmith's documentation runs unchanged, in several turns");
const SCRIPT = python("two servers with it talk to each other by the script of the documentation");
const ONE_THREAD = traces("a conversation of two agents in two processes is one trace and one thread");
const SECOND_PROGRAM = threads("L26: the second program of the document has all its turns in one thread");

const card: Request = probe => probe.get("/.well-known/agent-card.json?assistant_id=echo");
const AVAILABLE: Section = {
  title: "Endpoint, methods and card",
  statements: [
    ["the endpoint is at `/a2a/{assistant_id}`", hasStatus(send(), 200)],
    ["agents talk to other agents by this protocol", SCRIPT],
    ["`message/send` returns the complete response", gives(send({}, "words"), artifact("hello there"))],
    [
      "`message/stream` streams the response while it is made",
      frames(stream({}, "words"), all => {
        const texts = all.flatMap(({ result }) => result.artifact?.parts ?? []).map(part => part.text);
        expect(texts.join("")).toBe("hello there");
      }),
    ],
    ["`tasks/get` has the status of an earlier task", gives(read({}), { status: { state: "completed" } })],
    ["`tasks/get` has its results", gives(read({}), artifact("Hello"))],
    [
      "each assistant has a card",
      hasStatus(probe => probe.get("/.well-known/agent-card.json?assistant_id=asker"), 200),
    ],
    ["it is found by `assistant_id`", has(card, { name: "echo" })],
    ["it has the name", has(card, { name: "echo" })],
    ["it has the description", has(card, { description: expect.stringMatching(/./) })],
    ["it has the skills", has(card, { skills: [{ id: "echo" }] })],
    ["it has the input modes", has(card, { defaultInputModes: expect.arrayContaining(["text/plain"]) })],
    ["it has the output modes", has(card, { defaultOutputModes: expect.any(Array) })],
    ["it has the URL of the endpoint", has(card, { url: expect.stringMatching(/\/a2a\/echo$/) })],
    [
      "the URL answers",
      async probe => {
        const { pathname } = new URL((await card(probe)).json.url);
        expect((await post(call("message/sing"), pathname.slice("/a2a/".length))(probe)).status).toBe(200);
      },
    ],
  ],
};

/** Two turns, the second with the ids of the first. */
async function converse(probe: Probe) {
  const turn = async (word: string, ids: object) =>
    (await send({ parts: [{ kind: "text", text: word }], messageId: word, ...ids }, "memory")(probe)).json
      .result;
  const first = await turn("first", {});
  return { first, second: await turn("second", { contextId: first.contextId, taskId: first.id }) };
}

const CONVERSATION: Section = {
  title: "Creating an A2A-compatible agent",
  statements: [
    [
      "an agent keeps the state of a conversation",
      async probe => expect((await probe.share(converse)).second).toMatchObject(artifact("first")),
    ],
    ["text needs `messages` in the state", refuses(send({}, "form"), -32602)],
    [
      "`contextId` groups messages",
      async probe => {
        const { first, second } = await probe.share(converse);
        expect(second.contextId).toBe(first.contextId);
      },
    ],
    [
      "`taskId` is another one for each request",
      async probe => {
        const { first, second } = await probe.share(converse);
        expect(second.id).not.toBe(first.id);
      },
    ],
    [
      "the first message has neither: the server makes a `contextId`",
      async probe => expect((await probe.share(converse)).first.contextId).toMatch(/./),
    ],
    ["and a task id", async probe => expect((await probe.share(converse)).first.id).toMatch(/./)],
    [
      "messages with both ids of the response before continue the thread",
      async probe => expect((await probe.share(converse)).second.status.state).toBe("completed"),
    ],
    ["the `contextId` is the thread of the trace", ONE_THREAD],
    [
      "all messages of the conversation are in one thread",
      gives(send({ contextId: "one", messageId: "2" }, "thread"), artifact("one")),
    ],
    ["the program of the document runs: a state with `messages`", UNCHANGED],
    ["the last message of the state is the caller's, with its text as `content`", UNCHANGED],
    ["a message with the role `assistant` is the answer", UNCHANGED],
    ["a graph with a `context_schema`, a node and an edge from `__start__`", UNCHANGED],
    ["`OPENAI_API_KEY` is read from the environment", UNCHANGED],
  ],
};

/** As the program of the document reads a response. */
function extractText({
  artifacts,
  status,
}: {
  artifacts?: readonly Parts[];
  status: { message?: Parts };
}): string {
  const parts = [...(artifacts ?? []), ...(status.message ? [status.message] : [])].flatMap(one => one.parts);
  return parts.find(part => part.kind === "text" && part.text)?.text ?? "(no text found)";
}
interface Parts {
  readonly parts: readonly { readonly kind: string; readonly text?: string }[];
}

const PROGRAM: Section = {
  title: "Agent-to-agent communication",
  statements: [
    ["two agents talk by messages to each other's endpoints", SCRIPT],
    ["each continues with the response of the other, over three rounds", SCRIPT],
    [
      "text is in `artifacts`",
      async probe => expect(extractText((await send()(probe)).json.result)).toBe("Hello"),
    ],
    [
      "else in the message of the status",
      async probe => expect(extractText((await send({}, "asker")(probe)).json.result)).toBe("Which one?"),
    ],
    [
      "`messageId` may be a UUID",
      gives(send({ messageId: "0b9c9a0e-6d0f-4f2c-9a65-6f1d1a3f6d55" }), { kind: "task" }),
    ],
    [
      "`contextId` and `taskId` of another agent are accepted",
      async probe => {
        const { contextId, id } = (await send()(probe)).json.result;
        const { result } = (await send({ contextId, taskId: id, messageId: "b" }, "memory")(probe)).json;
        expect(result).toMatchObject({ contextId, status: { state: "completed" } });
      },
    ],
    [
      "ids of another server are accepted",
      gives(send({ contextId: "e1", taskId: "e2" }), { contextId: "e1", status: { state: "completed" } }),
    ],
    [
      "the `id` of the call may be a UUID",
      has(
        post(
          call(
            "message/send",
            { message: { role: "user", parts: [{ kind: "text", text: "x" }], messageId: "u" } },
            { id: CONTEXT },
          ),
        ),
        { id: CONTEXT },
      ),
    ],
    ["`Accept: application/json`", hasStatus(send(), 200)],
    ["`result.contextId` is returned", gives(send({ contextId: CONTEXT }), { contextId: CONTEXT })],
    ["`result.id` is returned", gives(send(), { id: expect.stringMatching(/./) })],
  ],
};

const THREAD = "11111111-2222-4333-8444-555555555555";
const inThread = (metadata: unknown, more: object = {}): Request => {
  const message = { role: "user", parts: [{ kind: "text", text: "x" }], messageId: "t", ...more };
  return post(call("message/send", { message }, { metadata }), "thread");
};
const TRACING: Section = {
  title: "Distributed tracing",
  statements: [
    ["the traces of several agents are in one thread", ONE_THREAD],
    ["without configuration", ONE_THREAD],
    ["every message of every agent of the conversation is", ONE_THREAD],
    [
      "1. the first message has no `contextId`: the server returns one",
      gives(send(), { contextId: expect.stringMatching(/./) }),
    ],
    [
      "2. messages with it continue the conversation",
      async probe => expect((await probe.share(converse)).second).toMatchObject(artifact("first")),
    ],
    ["3. it is the thread of all turns", gives(send({ contextId: CONTEXT }, "thread"), artifact(CONTEXT))],
    [
      "agents of other frameworks share a thread by `thread_id`",
      gives(inThread({ thread_id: THREAD }, { contextId: "other" }), artifact(THREAD)),
    ],
    ["the `contextId` of the first agent is the `thread_id` of the following requests", SECOND_PROGRAM],
    [
      "ids are inside of the message",
      gives(inThread({ thread_id: "a" }, { contextId: "inside" }), { contextId: "inside" }),
    ],
    ["`metadata.thread_id` is beside `params`", gives(inThread({ thread_id: "beside" }), artifact("beside"))],
    [
      "not inside of `params`",
      async probe => {
        const message = {
          role: "user",
          parts: [{ kind: "text", text: "x" }],
          messageId: "p",
          contextId: "params",
        };
        const params = { message, metadata: { thread_id: "wrong" } };
        await gives(post(call("message/send", params), "thread"), artifact("params"))(probe);
      },
      byDefault("`metadata.thread_id` in `params` is read, too, if there is none beside them"),
    ],
    ["`thread_id` may be null", gives(inThread({ thread_id: null }), { status: { state: "completed" } })],
    ["the status of the response is 200", hasStatus(inThread({ thread_id: "ok" }), 200)],
    [
      "errors have a `message`",
      has(post(call("message/send", {}, { metadata: { thread_id: "e" } })), {
        error: { message: expect.any(String) },
      }),
    ],
    ["a random `thread_id` before the first `contextId` is the same thread", SECOND_PROGRAM],
    [
      "context and thread stay in sync",
      async probe => {
        const { contextId } = (await inThread({ thread_id: randomUUID() })(probe)).json.result;
        await gives(inThread({ thread_id: contextId }, { contextId }), artifact(contextId))(probe);
      },
    ],
    ["the same `thread_id` for every agent: one thread", SECOND_PROGRAM],
    [
      "an agent that is no graph gets the thread of its request",
      gives(inThread({ thread_id: "mine" }, { contextId: "its" }), artifact("mine")),
    ],
    [
      "calls to other agents carry `metadata.thread_id`",
      traces("an agent that calls another one with ctx.call is in the same trace and the same thread"),
    ],
    [
      "spans have `langsmith.metadata.thread_id`",
      { file: "test/process/traces.test.ts", name: "langsmith.metadata.thread_id" },
    ],
    ["`LANGSMITH_API_KEY` switches tracing on", traces("with a LangSmith key they are sent there")],
    ["`LANGSMITH_PROJECT` names the project", traces("into the project that it names")],
    ["spans of a graph's own libraries are in the same trace", traces("a graph is in the same trace")],
  ],
};

const OFF = { file: "test/process/langgraph-json.test.ts", name: "http.disable_a2a disables A2A everywhere" };
const DISABLED: Section = {
  title: "Disable A2A",
  statements: [
    ["`http.disable_a2a` in `langgraph.json` removes the endpoint", OFF],
    ["the file may have a `$schema`", { file: "src/loader/langgraph-json.test.ts", name: "$schema" }],
  ],
};

export const LANGSMITH_AGENT_SERVER: VendorDocument = {
  name: 'LangSmith "A2A endpoint in Agent Server"',
  page: "langgraph",
  sections: [AVAILABLE, CONVERSATION, PROGRAM, TRACING, DISABLED],
};
