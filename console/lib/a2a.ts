import { ApiError, request } from "./api.ts";
import { readEvents } from "./sse.ts";
import type { V1Answer, V1Message, V1Task } from "./v1.ts";

/** Calls in A2A 1.0 over JSON-RPC: what every client of the server can do. */

const pathOf = (agent: string): string => `agents/${encodeURIComponent(agent)}`;
const HEADERS = { "Content-Type": "application/json", "A2A-Version": "1.0" };

const callOf = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

function resultOf(body: unknown): unknown {
  const { result, error } = body as { result?: unknown; error?: { code: number; message: string } };
  if (error) throw new ApiError(400, error.message, body);
  return result;
}

export async function call<T>(agent: string, method: string, params: object): Promise<T> {
  const response = await request(pathOf(agent), {
    method: "POST",
    headers: HEADERS,
    body: callOf(method, params),
  });
  return resultOf(await response.json()) as T;
}

export interface Sending {
  readonly agent: string;
  readonly message: V1Message;
  /** The call can be repeated: the server executes it once. */
  readonly key: string;
  readonly streaming: boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends a message and returns as soon as the server has recorded it: the first event of the stream is the task or the
 * bare message. An agent that does not stream answers as a whole.
 */
export async function sendMessage({ agent, message, key, streaming, signal }: Sending): Promise<V1Answer> {
  const method = streaming ? "SendStreamingMessage" : "SendMessage";
  const headers = { ...HEADERS, "Idempotency-Key": key };
  const response = await request(pathOf(agent), {
    method: "POST",
    headers,
    body: callOf(method, { message }),
    signal,
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream"))
    return resultOf(await response.json()) as V1Answer;
  if (response.body)
    for await (const { data } of readEvents(response.body)) {
      const answer = resultOf(JSON.parse(data)) as V1Answer & {
        statusUpdate?: { taskId: string; contextId: string };
      };
      if (answer.task || answer.message) return answer;
      // A repeated call of a task that waits: its first event is a change.
      const { taskId, contextId } = answer.statusUpdate ?? {};
      if (taskId && contextId) return { task: { id: taskId, contextId, status: { state: "" } } };
    }
  throw new TypeError("The stream ended before its first event");
}

export const cancelTask = (agent: string, id: string): Promise<V1Task> =>
  call<V1Task>(agent, "CancelTask", { id });

export const newId = (): string =>
  crypto.randomUUID?.() ??
  [...crypto.getRandomValues(new Uint8Array(16))].map(one => one.toString(16).padStart(2, "0")).join("");
