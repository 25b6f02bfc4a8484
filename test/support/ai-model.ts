/**
 * A model of the AI SDK that does what the last message asks; and an agent with it, for the contract of
 * runtimes.
 */
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonSchema, ToolLoopAgent, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { aiSdk } from "../../src/runtime/ai-sdk/index.ts";

/** An output of the model: text, or a tool call. */
export type Piece = string | { readonly id: string; readonly tool: string; readonly args: object } | Extra;
export interface Extra {
  readonly part: Part;
}
type StreamResult = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>;
type Part = StreamResult["stream"] extends ReadableStream<infer P> ? P : never;

// biome-ignore lint/suspicious/noExplicitAny: a test looks at any request.
export type Prompt = any[];

export interface ModelRequest {
  /** The last message of the caller. */
  readonly text: string;
  /** The tool results after it. */
  readonly results: readonly unknown[];
  readonly prompt: Prompt;
  readonly signal: AbortSignal | undefined;
}
export type ModelScript = (request: ModelRequest) => AsyncIterable<Piece> | Iterable<Piece>;

const TOKENS = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };

export function fakeModel(script: ModelScript, reason?: "length" | "content-filter"): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ prompt, abortSignal: signal }) => {
      const at = prompt.findLastIndex(message => message.role === "user");
      const results = prompt.slice(at + 1).flatMap(resultsIn);
      const pieces = script({ text: textIn(prompt[at]), results, prompt, signal });
      return { stream: ReadableStream.from(toParts(pieces, reason)) };
    },
  });
}

async function* toParts(
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
  reason: string | undefined,
): AsyncGenerator<Part> {
  let calls = false;
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  for await (const piece of pieces) {
    if (typeof piece === "string") yield { type: "text-delta", id: "1", delta: piece };
    else if ("part" in piece) yield piece.part;
    else {
      calls = true;
      const input = JSON.stringify(piece.args);
      yield { type: "tool-call", toolCallId: piece.id, toolName: piece.tool, input };
    }
  }
  yield { type: "text-end", id: "1" };
  const unified = (reason ?? (calls ? "tool-calls" : "stop")) as "stop";
  yield {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 7, ...TOKENS },
      outputTokens: { total: 5, text: undefined, reasoning: undefined },
    },
  };
}

// biome-ignore-start lint/suspicious/noExplicitAny: messages of another library.
export const textIn = (message: any): string =>
  (message?.content ?? []).map((part: any) => part.text ?? "").join("");
const resultsIn = (message: any): unknown[] =>
  message.role === "tool" ? message.content.filter((part: any) => part.type === "tool-result") : [];
// biome-ignore-end lint/suspicious/noExplicitAny: messages of another library.

/** See the table of the contract. Its question is a tool that only the caller can answer. */
export function contractAgent(folder: string, more: Partial<AgentDefinition>): AgentDefinition {
  const ask = tool({
    inputSchema: jsonSchema<{ question: string }>({ type: "object" }),
    outputSchema: jsonSchema<string>({ type: "string" }),
  });
  const agent = new ToolLoopAgent({
    model: fakeModel(request => contractScript(folder, request)),
    tools: { ask },
  });
  return aiSdk(agent, { name: "tested", tools: false, ...more });
}

async function* contractScript(
  folder: string,
  { text, results, prompt, signal }: ModelRequest,
): AsyncGenerator<Piece> {
  const mark = (line: string): void => appendFileSync(`${folder}/trail`, `${line}\n`);
  const users = prompt.filter(message => message.role === "user").map(textIn);
  switch (text) {
    case "stream":
      return yield* ["one ", "two ", "three"];
    case "work":
      mark("begun");
      yield "before ";
      while (!existsSync(`${folder}/open`)) await sleep(5, undefined, { ...(signal && { signal }) });
      return yield "after";
    case "wait":
      yield "waiting";
      await sleep(2 ** 30, undefined, { ...(signal && { signal }) }).catch(() => mark("stopped"));
      return;
    case "fail":
      throw new Error("SECRET");
    case "ask":
      if (results.length === 0) return yield { id: "q", tool: "ask", args: { question: "Which colour?" } };
      return yield `You chose ${(results[0] as { output: { value: string } }).output.value}`;
    case "spend":
      return yield "spent";
    case "recall":
      return yield users.slice(0, -1).join(", ") || "nothing";
    default:
      yield "ok";
  }
}
