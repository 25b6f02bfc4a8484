import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The same conversation means the same in each front end, and its task can be read over v1. */

const talker: AgentDefinition = {
  name: "talker",
  async *run(task, ctx) {
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "reply") return yield ctx.reply("just a word");
    if (task.text === "fail") return yield ctx.fail("I cannot");
    if (task.text === "reject") return yield ctx.reject("I will not");
    yield ctx.text("one ");
    yield ctx.text("two");
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await serve([talker]);
});
afterAll(() => server.stop());

interface Answer {
  readonly text: string;
  /** undefined: the front end has an error instead. */
  readonly state: string | undefined;
  readonly error?: string;
  readonly taskId?: string;
}

interface FrontEnd {
  readonly name: string;
  send(text: string, context: string): Promise<Answer>;
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Loose[]> {
  const reply = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.headers.get("content-type")?.startsWith("text/event-stream")) return [JSON.parse(text)];
  const data = text.split("\n").filter(line => line.startsWith("data: {"));
  return data.map(line => JSON.parse(line.slice(6)));
}

const user = (content: string) => [
  { id: `m-${content}`, role: "user", content, parts: [{ type: "text", text: content }] },
];

function toCompletion(chunks: Loose[]): Answer {
  const error = chunks.find(one => one.error)?.error.message;
  const deltas = chunks
    .flatMap(one => one.choices ?? [])
    .map(({ delta, message }: Loose) => delta ?? message);
  const text = deltas.map((one: Loose) => one.content ?? one.refusal ?? "").join("");
  const { state, task_id: taskId } = chunks.find(one => one.metadata)?.metadata ?? {};
  return { text, state, error, taskId };
}

const toResponse = ({ output, status, error, metadata, id }: Loose): Answer => ({
  text: output
    .flatMap((item: Loose) => item.content)
    .map((part: Loose) => part.text ?? part.refusal)
    .join(""),
  state: status === "failed" ? undefined : (metadata.state ?? status),
  error: error?.message,
  taskId: id.slice("resp_".length),
});

const FRONT_ENDS: readonly FrontEnd[] = [
  {
    name: "chat completions",
    send: async (text, context) =>
      toCompletion(
        await post(
          "/v1/chat/completions",
          { model: "talker", messages: user(text) },
          { "x-context-id": context },
        ),
      ),
  },
  {
    name: "streamed chat completions",
    send: async (text, context) =>
      toCompletion(
        await post(
          "/agents/talker/v1/chat/completions",
          { messages: user(text), stream: true },
          { "x-context-id": context },
        ),
      ),
  },
  {
    name: "responses",
    send: async (text, context) =>
      toResponse(
        (await post("/v1/responses", { model: "talker", input: text, conversation: context }))[0] as Loose,
      ),
  },
  {
    name: "streamed responses",
    send: async (text, context) =>
      toResponse(
        (
          await post("/v1/responses", { model: "talker", input: text, conversation: context, stream: true })
        ).at(-1)?.response,
      ),
  },
  {
    name: "AI SDK UI",
    async send(text, context) {
      const parts = await post("/agents/talker/chat", { id: context, messages: user(text) });
      const state = parts.at(-1)?.messageMetadata.state;
      return {
        text: parts.map(part => (part.type === "text-delta" ? part.delta : "")).join(""),
        state: state === "failed" ? undefined : state,
        error: parts.find(part => part.type === "error")?.errorText,
        taskId: parts[0]?.messageMetadata.taskId,
      };
    },
  },
  {
    name: "AG-UI",
    async send(text, context) {
      const events = await post("/agents/talker/ag-ui", {
        threadId: context,
        runId: "r",
        messages: user(text),
      });
      const last = events.at(-1) as Loose;
      return {
        text: events.map(event => (event.type === "TEXT_MESSAGE_CONTENT" ? event.delta : "")).join(""),
        state: last.metadata?.state,
        error: last.type === "RUN_ERROR" ? last.message : undefined,
        taskId: events[0]?.metadata.taskId,
      };
    },
  },
];

describe.each(FRONT_ENDS)("$name", ({ name, send }) => {
  it("an answer", async () => {
    const { text, state, taskId } = await send("talk", `${name} 1`);
    expect({ text, state }).toEqual({ text: "one two", state: "completed" });
    const task = await rpcResult(`${server.url}/agents/talker`, "GetTask", { id: taskId });
    expect(V1.stateOf(task)).toBe("completed");
    expect(task.contextId).toBe(`${name} 1`);
  });

  it("a bare message", async () => {
    expect(await send("reply", `${name} 2`)).toMatchObject({ text: "just a word", state: "completed" });
  });

  it("a question, and its answer in the same task", async () => {
    const asked = await send("ask", `${name} 3`);
    expect(asked).toMatchObject({ text: "Which one?", state: "input-required" });
    const answered = await send("this", `${name} 3`);
    expect(answered).toMatchObject({ text: "one two", state: "completed" });
    expect(answered.taskId?.split(".")[0]).toBe(asked.taskId);
  });

  it("a failure is an error with the agent's reason", async () => {
    expect(await send("fail", `${name} 4`)).toMatchObject({ text: "", state: undefined, error: "I cannot" });
  });

  it("a refusal has the agent's reason", async () => {
    const { text, error } = await send("reject", `${name} 5`);
    expect(text || error).toBe("I will not");
  });
});
