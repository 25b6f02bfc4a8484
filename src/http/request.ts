import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../ports/index.ts";
import type { RouteMatch } from "./routes.ts";

/** The members of a request that are used; Node's requests have them, and so do those of the fast path and of `fetch`. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The whole request has arrived. */
  readonly complete: boolean;
  readonly readableEnded: boolean;
  readonly socket?: unknown;
  on(event: string, listener: (this: HttpRequest, chunk: Buffer) => void): unknown;
  resume(): unknown;
  /** Of a request that arrived whole: its body, once; then there are no events. */
  takeBody?(): Buffer;
}
/** The members of a response that are used. */
export interface HttpResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableNeedDrain: boolean;
  /** Whether it finds the fastest encoding of a text itself. Others write UTF-8 unless they are told. */
  readonly choosesEncoding?: boolean;
  /** For headers that are known before the status; `writeHead` adds to them. */
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  write(text: string | Uint8Array, encoding?: BufferEncoding): boolean;
  end(text?: string, encoding?: BufferEncoding): unknown;
  destroy(): unknown;
  on(event: string, listener: () => void): unknown;
  once(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/** One HTTP request and its response, as bindings see them. */
export interface HttpExchange extends Caller {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly match: RouteMatch;
  readonly query: URLSearchParams;
  /** See `WireCall`. */
  base(): string;
  /** Aborts when the caller disconnects or the server stops; created on demand. */
  signal(): AbortSignal;
}

/** Sends JSON, unless the headers name another type. */
export function sendText(
  response: HttpResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.byteLength(text);
  response.writeHead(status, {
    ...headers,
    "Content-Type": headers["Content-Type"] ?? "application/json",
    "Content-Length": bytes,
  });
  response.end(text, encodingOf(text, bytes));
}

/** Most JSON is ASCII: written as latin1 it is copied without being encoded, which is faster. */
export const encodingOf = (text: string, bytes = Buffer.byteLength(text)): "latin1" | "utf8" =>
  bytes === text.length ? "latin1" : "utf8";

/** An error outside of every dialect. */
export function sendError(
  response: HttpResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const json = JSON.stringify({ error: { code: status, status: code, message } });
  sendText(response, status, json, { "Cache-Control": "no-store", ...headers });
}

/** Resolves when the response can take more, or is closed. */
export function waitForDrain(response: Pick<HttpResponse, "on" | "off">): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
