/**
 * An OpenAI-compatible endpoint on loopback that does what the last message asks: it streams, fails, stalls
 * and refuses.
 */
import { once } from "node:events";
import { appendFileSync, existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

// biome-ignore-start lint/suspicious/noExplicitAny: a test looks at any request.
export interface ChatRequest {
  readonly headers: IncomingMessage["headers"];
  readonly body: any;
  /** How often the same request came before. */
  readonly again: number;
}
// biome-ignore-end lint/suspicious/noExplicitAny: a test looks at any request.

/** The response: each piece of it is sent separately. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A whole response instead of a stream. */
  readonly json?: unknown;
  /** Texts of a stream; an object is sent unchanged. */
  readonly pieces?: AsyncIterable<string | object> | Iterable<string | object>;
  readonly reason?: string;
  readonly usage?: object;
  /** The connection breaks after the pieces. */
  readonly breaks?: boolean;
}

export type ChatScript = (text: string, requests: ChatRequest, signal: AbortSignal) => Reply | Promise<Reply>;

export interface ChatServer {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  close(): Promise<void>;
}

export async function startChatServer(script: ChatScript): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const server = createServer((request, response) => {
    answer(request, response, requests, script).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, requests, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ChatRequest[],
  script: ChatScript,
): Promise<void> {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const same = JSON.stringify(body);
  const again = requests.filter(one => JSON.stringify(one.body) === same).length;
  const one: ChatRequest = { headers: request.headers, body, again };
  requests.push(one);
  if (request.url !== "/v1/chat/completions") return void response.writeHead(404).end();
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const reply = await script(textIn(body.messages.at(-1)), one, gone.signal);
  if (reply.json !== undefined) {
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.json));
  } else await stream(response, reply);
}

async function stream(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", ...reply.headers });
  const send = (chunk: object): unknown => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.write(": one moment\r\n\r\n");
  for await (const piece of reply.pieces ?? [])
    send(typeof piece === "string" ? { choices: [{ index: 0, delta: { content: piece } }] } : piece);
  if (reply.breaks) return void response.destroy();
  send({ choices: [{ index: 0, delta: {}, finish_reason: reply.reason ?? "stop" }] });
  if (reply.usage) send({ choices: [], usage: reply.usage });
  response.end("data: [DONE]\n\n");
}

/** The text of a message, with or without parts. */
export function textIn({ content }: { content: string | { text?: string }[] }): string {
  return typeof content === "string" ? content : content.map(part => part.text ?? "").join("");
}

/** The model of the contract of runtimes; see the table there. */
export const contractScript =
  (folder: string): ChatScript =>
  async (text, { body }, gone) => {
    const mark = (line: string): void => appendFileSync(`${folder}/trail`, `${line}\n`);
    switch (text) {
      case "stream":
        return { pieces: ["one ", "two ", "three"] };
      case "work":
        mark("begun");
        return { pieces: work(`${folder}/open`, gone) };
      case "wait":
        gone.addEventListener("abort", () => mark("stopped"));
        return { pieces: waiting(gone) };
      case "fail":
        return { status: 400, json: { error: { message: "SECRET", code: "invalid_request" } } };
      case "spend":
        return {
          pieces: ["spent"],
          usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
        };
      case "recall": {
        const before = body.messages.slice(0, -1).filter((one: { role: string }) => one.role === "user");
        return { pieces: [before.map(textIn).join(", ") || "nothing"] };
      }
      default:
        return { pieces: ["ok"] };
    }
  };

async function* work(gate: string, gone: AbortSignal): AsyncGenerator<string> {
  yield "before ";
  while (!existsSync(gate) && !gone.aborted) await sleep(5);
  yield "after";
}

async function* waiting(gone: AbortSignal): AsyncGenerator<string> {
  yield "waiting";
  await sleep(2 ** 30, undefined, { signal: gone });
}
