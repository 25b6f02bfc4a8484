/** Models in tests: they answer what the test says, without a network. */
import { isObject, type Json } from "../lib/json.ts";

/** An answer of a model: a text, or calls of tools. An array is streamed piece by piece. */
export type ModelAnswer = string | readonly string[] | ModelToolCalls;
export interface ModelToolCalls {
  readonly text?: string | undefined;
  readonly tools: readonly { readonly name: string; readonly input: Json }[];
}

/** A request of an agent to its model. */
export interface FakeModelRequest {
  /** The text of the last message. */
  readonly text: string;
  /** The messages, as the library of the agent sent them. */
  readonly messages: readonly unknown[];
}

/** The answers one after the other, or a function of the request. */
export type ModelScript = readonly ModelAnswer[] | ((request: FakeModelRequest) => ModelAnswer);

/** Takes the next answer; a model that is asked more often than the test expects fails. */
function createScript(script: ModelScript): (request: FakeModelRequest) => Answered {
  let count = 0;
  return request => {
    const answer = typeof script === "function" ? script(request) : script[count];
    count += 1;
    if (answer === undefined)
      throw new Error(`The model was called ${count} times, and the test has ${script.length} answers`);
    if (typeof answer === "string") return { pieces: [answer], tools: [], id: count };
    if ("tools" in answer)
      return { pieces: answer.text ? [answer.text] : [], tools: answer.tools, id: count };
    return { pieces: answer, tools: [], id: count };
  };
}

interface Answered {
  readonly pieces: readonly string[];
  readonly tools: ModelToolCalls["tools"];
  readonly id: number;
}

/** The text of a message of either library: a text, or parts with texts. */
function textIn(message: unknown): string {
  const content = isObject(message as Json) ? (message as { content?: unknown }).content : undefined;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(part => (part as { text?: string })?.text ?? "").join("") : "";
}

const toRequest = (messages: readonly unknown[]): FakeModelRequest => ({
  text: textIn(messages.at(-1)),
  messages,
});

const USAGE = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
};

/** A model of the AI SDK: `new ToolLoopAgent({ model: fakeLanguageModel(["Hello"]) })`. */
export function fakeLanguageModel(script: ModelScript) {
  const next = createScript(script);
  const requests: FakeModelRequest[] = [];
  const answer = (prompt: readonly unknown[]): Answered => {
    const request = toRequest(prompt);
    requests.push(request);
    return next(request);
  };
  return {
    specificationVersion: "v4" as const,
    provider: "dragoman",
    modelId: "fake",
    supportedUrls: {},
    /** The requests so far. */
    requests: requests as readonly FakeModelRequest[],
    async doGenerate({ prompt }: { readonly prompt: readonly unknown[] }) {
      const { pieces, tools, id } = answer(prompt);
      const text = pieces.join("");
      return {
        content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...toCalls(tools, id)],
        finishReason: toFinish(tools),
        usage: USAGE,
        warnings: [],
      };
    },
    async doStream({ prompt }: { readonly prompt: readonly unknown[] }) {
      return { stream: ReadableStream.from(toParts(answer(prompt))) };
    },
  };
}

const toFinish = (tools: ModelToolCalls["tools"]) => ({
  unified: tools.length > 0 ? ("tool-calls" as const) : ("stop" as const),
  raw: undefined,
});

const toCalls = (tools: ModelToolCalls["tools"], id: number) =>
  tools.map(({ name, input }, i) => ({
    type: "tool-call" as const,
    toolCallId: `call-${id}-${i + 1}`,
    toolName: name,
    input: JSON.stringify(input),
  }));

function* toParts({ pieces, tools, id }: Answered) {
  yield { type: "stream-start" as const, warnings: [] };
  if (pieces.length > 0) {
    yield { type: "text-start" as const, id: "1" };
    for (const delta of pieces) yield { type: "text-delta" as const, id: "1", delta };
    yield { type: "text-end" as const, id: "1" };
  }
  yield* toCalls(tools, id);
  yield { type: "finish" as const, finishReason: toFinish(tools), usage: USAGE };
}

export interface FakeOpenAi {
  /** Answers POST …/chat/completions, whatever the host; for `outbound`, and for the option `fetch` of the `openai` package. */
  fetch(input: Request | string | URL, init?: RequestInit): Promise<Response>;
  readonly requests: readonly FakeModelRequest[];
}

/** An OpenAI-compatible endpoint. */
export function fakeOpenAi(script: ModelScript): FakeOpenAi {
  const next = createScript(script);
  const requests: FakeModelRequest[] = [];
  return {
    requests,
    async fetch(input, init) {
      const request = new Request(input, init);
      if (request.method !== "POST" || !new URL(request.url).pathname.endsWith("/chat/completions"))
        return Response.json({ error: { message: `Not found: ${request.url}` } }, { status: 404 });
      const body = (await request.json()) as {
        messages: readonly unknown[];
        model: string;
        stream?: boolean;
      };
      requests.push(toRequest(body.messages));
      const answered = next(requests.at(-1) as FakeModelRequest);
      return body.stream ? toEventStream(body.model, answered) : toCompletion(body.model, answered);
    },
  };
}

const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const finishOf = ({ tools }: Answered): string => (tools.length > 0 ? "tool_calls" : "stop");
const toChatCalls = ({ tools, id }: Answered) =>
  tools.map(({ name, input }, index) => ({
    index,
    id: `call-${id}-${index + 1}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));

function toCompletion(model: string, answered: Answered): Response {
  const calls = toChatCalls(answered);
  const message = {
    role: "assistant",
    content: answered.pieces.join("") || null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, finish_reason: finishOf(answered) }];
  return Response.json({
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 0,
    model,
    choices,
    usage: CHAT_USAGE,
  });
}

function toEventStream(model: string, answered: Answered): Response {
  const base = { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 0, model };
  const calls = toChatCalls(answered);
  const deltas = [
    ...answered.pieces.map(content => ({ content })),
    ...(calls.length > 0 ? [{ tool_calls: calls }] : []),
  ];
  const chunks = [
    ...deltas.map(delta => ({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: finishOf(answered) }] },
    { ...base, choices: [], usage: CHAT_USAGE },
  ];
  const lines = [...chunks.map(chunk => JSON.stringify(chunk)), "[DONE]"].map(data => `data: ${data}\n\n`);
  const body = ReadableStream.from(lines).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
