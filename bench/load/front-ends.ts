import { CHUNK_MARK } from "../agents/script.ts";
import type { Answer } from "./answer.ts";
import type { Expected } from "./check.ts";
import type { FrontEnd } from "./order.ts";

/** The calls of the bench in the protocols of chat windows, which have neither JSON-RPC nor tasks. */
interface FrontEndSpelling {
  path: string;
  toBody(key: string, text: string, stream: boolean): object;
  /** Is in a response whose turn has ended well. */
  completed: string;
  /** The response names the call. */
  hasKey: boolean;
}

const message = (text: string) => ({
  id: "m1",
  role: "user",
  content: text,
  parts: [{ type: "text", text }],
});

export const FRONT_ENDS: Record<FrontEnd, FrontEndSpelling> = {
  chat: {
    path: "/v1/chat/completions",
    toBody: (_key, text, stream) => ({
      model: "bench",
      stream,
      messages: [{ role: "user", content: text }],
    }),
    completed: '"finish_reason":"stop"',
    hasKey: false,
  },
  responses: {
    path: "/v1/responses",
    toBody: (conversation, input, stream) => ({ model: "bench", stream, input, conversation }),
    completed: '"status":"completed"',
    hasKey: true,
  },
  aisdk: {
    path: "/agents/bench/chat",
    toBody: (id, text) => ({ id, trigger: "submit-message", messages: [message(text)] }),
    completed: '"type":"finish","finishReason":"stop"',
    hasKey: true,
  },
  agui: {
    path: "/agents/bench/ag-ui",
    toBody: (threadId, text) => ({
      threadId,
      runId: "r1",
      messages: [message(text)],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
    completed: '"type":"RUN_FINISHED"',
    hasKey: true,
  },
  runs: {
    path: "/runs/wait",
    toBody: (_key, text) => ({
      assistant_id: "bench",
      input: { messages: [{ role: "user", content: text }] },
    }),
    completed: '"type":"ai"',
    hasKey: false,
  },
};

export const isFrontEnd = (wire: string): wire is FrontEnd => Object.hasOwn(FRONT_ENDS, wire);

export function checkFrontEnd({ status, body }: Answer, wire: FrontEnd, { work, key, text }: Expected): void {
  const { completed, hasKey } = FRONT_ENDS[wire];
  if (status !== 200) throw new Error(`HTTP ${status}: ${body.slice(0, 200)}`);
  if (hasKey && !body.includes(key)) throw new Error(`a response to another call: ${body.slice(0, 200)}`);
  if (!body.includes(completed)) throw new Error(`not completed: ${body.slice(-300)}`);
  if (work.kind !== "stream") {
    if (!body.includes(text)) throw new Error(`not the echo: ${body.slice(0, 300)}`);
    return;
  }
  // The events at the end of a response repeat the whole text.
  const numbers = [...body.matchAll(DELTA)].map(found => Number(found[1]));
  if (numbers.length !== work.chunks || numbers.some((number, i) => number !== i))
    throw new Error(`${numbers.length} chunks, not ${work.chunks} in order`);
}

/** `content` of chat completions, `delta` of the others. */
const DELTA = new RegExp(`"(?:content|delta)":"${CHUNK_MARK}(\\d+) `, "g");
