import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../ports/index.ts";
import type { RouteMatch } from "./routes.ts";

/** What is used of a request; one that did not come over Node's HTTP needs no more than this. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Nothing of it is still on its way. */
  readonly complete: boolean;
  readonly readableEnded: boolean;
  /** The connection that it came over, where there is one. */
  readonly socket?: unknown;
  on(event: string, heard: (this: HttpRequest, chunk: Buffer) => void): unknown;
  resume(): unknown;
  /** Gives its body away, once, where all of it came with the head; then there is nothing to listen to. */
  takeBody?(): Buffer;
}
/** What is used of a response. */
export interface HttpResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableNeedDrain: boolean;
  /** Whether it finds out how a text is best encoded if it is not told. Others take UTF-8. */
  readonly encodes?: boolean;
  /** For what is known before it is known what will be said; `writeHead` adds to it. */
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  /** Bytes are written as they are. */
  write(text: string | Uint8Array, encoding?: BufferEncoding): boolean;
  end(text?: string, encoding?: BufferEncoding): unknown;
  destroy(): unknown;
  on(event: string, heard: () => void): unknown;
  once(event: string, heard: () => void): unknown;
  off(event: string, heard: () => void): unknown;
}

/** One HTTP request and its response, as far as a transport needs to know. */
export interface HttpExchange extends Caller {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly match: RouteMatch;
  readonly query: URLSearchParams;
  /** See `WireCall`. */
  base(): string;
  /** Aborts when the caller is gone or the server stops; made when first asked for. */
  signal(): AbortSignal;
}

/** Sends JSON, unless the headers tell another type. */
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

/** Plain ASCII, as most JSON is, need not be encoded: it is copied as it is, and that is quicker. */
export const encodingOf = (text: string, bytes = Buffer.byteLength(text)): "latin1" | "utf8" =>
  bytes === text.length ? "latin1" : "utf8";

/** What is to be told to a response about the encoding of a text. */
export const encodingFor = (response: HttpResponse, text: string): "latin1" | "utf8" | undefined =>
  response.encodes ? undefined : encodingOf(text);

/** A refusal outside of any dialect: there is nobody at this path to say it. */
export function sendProblem(
  response: HttpResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const json = JSON.stringify({ error: { code: status, status: code, message } });
  sendText(response, status, json, { "Cache-Control": "no-store", ...headers });
}

/** Until there is room for more, or nobody takes it any longer. */
export function drained(response: Pick<HttpResponse, "on" | "off">): Promise<void> {
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
