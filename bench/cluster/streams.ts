/** The client's view: tasks that are started at one node and streamed from another. */
import { request } from "node:http";
import { CHUNK_MARK } from "../agents/script.ts";

const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };
const toBody = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

export async function beginTask(url: string, text: string): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const params = { message, configuration: { returnImmediately: true } };
  const body = toBody("SendMessage", params);
  const reply = await fetch(url, { method: "POST", headers: HEADERS, body });
  const { result, error } = (await reply.json()) as { result?: { task: { id: string } }; error?: unknown };
  if (!result) throw new Error(`a task was refused: ${JSON.stringify(error)}`);
  return result.task.id;
}

/** One chunk of an agent, as the client received it. */
export interface Chunk {
  /** The process that ran the agent. */
  readonly pid: number;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** All chunks of one task, and when its stream ended. */
export interface TaskStream {
  readonly chunks: Chunk[];
  endedAt: number | undefined;
}

/** Streams of several tasks, read together. */
export interface Streams {
  readonly each: readonly TaskStream[];
  /** Resolves when all of them have ended. */
  readonly over: Promise<unknown>;
}

export const now = (): number => performance.timeOrigin + performance.now();
const CHUNK = new RegExp(`${CHUNK_MARK}\\d+ @([\\d.]+)/(\\d+) `, "g");

/** Resolves when all of them have begun. */
export async function openStreams(url: string, taskIds: readonly string[]): Promise<Streams> {
  const each = taskIds.map((): TaskStream => ({ chunks: [], endedAt: undefined }));
  const opened = await Promise.all(taskIds.map((taskId, i) => open(url, taskId, each[i] as TaskStream)));
  return { each, over: Promise.all(opened.map(one => one.over)) };
}

function readChunks(text: string, { chunks }: TaskStream): void {
  const receivedAt = now();
  for (const [, sentAt, pid] of text.matchAll(CHUNK))
    chunks.push({ pid: Number(pid), sentAt: Number(sentAt), receivedAt });
}

function open(url: string, taskId: string, stream: TaskStream): Promise<{ over: Promise<void> }> {
  const headers = { ...HEADERS, accept: "text/event-stream" };
  const over = Promise.withResolvers<void>();
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", headers, agent: false });
    call.once("error", reject);
    call.once("response", response => {
      if (response.statusCode !== 200)
        return reject(new Error(`a stream was refused: ${response.statusCode}`));
      let rest = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        resolve({ over: over.promise });
        const whole = rest + text;
        const end = whole.lastIndexOf("\n\n") + 1;
        rest = whole.slice(end);
        readChunks(whole.slice(0, end), stream);
      });
      response.on("error", () => {});
      response.once("close", () => {
        stream.endedAt = now();
        over.resolve();
      });
    });
    call.end(toBody("SubscribeToTask", { id: taskId }));
  });
}
