import type { IncomingMessage, ServerResponse } from "node:http";
import type { Headers } from "../ports.ts";
import type { Place } from "./routes.ts";

/** One HTTP request and its response, as far as a transport needs to know. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly place: Place;
  readonly headers: Headers;
  readonly query: URLSearchParams;
  /** See `WireCall`. */
  base(): string;
  /** Aborts when the caller is gone or the server stops; made when first asked for. */
  signal(): AbortSignal;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    ...headers,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(json),
  });
  response.end(json);
}

/** A refusal outside of any dialect: there is nobody at this path to say it. */
export function sendProblem(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const json = JSON.stringify({ error: { code: status, status: code, message } });
  sendJson(response, status, json, { "Cache-Control": "no-store", ...headers });
}
