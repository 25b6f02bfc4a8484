import { createHash } from "node:crypto";
import type { Pipeline, Route, WireReply } from "../ports.ts";
import { type Exchange, sendJson } from "./exchange.ts";

export interface RestParts {
  readonly pipeline: Pipeline;
  /** When what is served last changed, in milliseconds. */
  readonly modifiedAt: () => number;
}

/** How long a card may be used without asking again: short, because an agent's card changes with its code. */
const CARD_SECONDS = 60;

/** Calls whose method is the path: for now the documents that tell what is here. */
export function createRest(parts: RestParts) {
  async function serve(exchange: Exchange, route: Route): Promise<void> {
    const { place, headers, query, base } = exchange;
    const reply = await parts.pipeline.handle({
      transport: "rest",
      endpoint: place.endpoint,
      agent: place.agent,
      headers,
      query,
      base,
      method: route.method,
      params: undefined,
      signal: () => exchange.signal(),
    });
    if (reply.kind === "one") return sendDocument(exchange, reply);
    if (reply.kind === "fault") return sendFault(exchange, reply);
    throw new Error("a document cannot be a stream");
  }

  function sendDocument(exchange: Exchange, reply: WireReply & { kind: "one" }): void {
    const etag = `"${createHash("sha256").update(reply.json).digest("base64url").slice(0, 22)}"`;
    const modifiedAt = parts.modifiedAt();
    const headers = {
      ...reply.headers,
      ETag: etag,
      "Last-Modified": new Date(modifiedAt).toUTCString(),
      "Cache-Control": `public, max-age=${CARD_SECONDS}`,
      Vary: "A2A-Version",
    };
    if (!isUnchanged(exchange, etag, modifiedAt))
      return sendJson(exchange.response, 200, reply.json, headers);
    exchange.response.writeHead(304, headers);
    exchange.response.end();
  }

  return { serve };
}

/** RFC 9110 §13.2.2: the tag decides if it is there, else the date. */
function isUnchanged(exchange: Exchange, etag: string, modifiedAt: number): boolean {
  const tags = exchange.headers["if-none-match"];
  if (tags !== undefined)
    return tags.trim() === "*" || tags.split(",").some(tag => weak(tag.trim()) === etag);
  const since = Date.parse(exchange.headers["if-modified-since"] ?? "");
  return Number.isFinite(since) && Math.floor(modifiedAt / 1000) * 1000 <= since;
}

const weak = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);

function sendFault(exchange: Exchange, reply: WireReply & { kind: "fault" }): void {
  const { http: code, grpc: status, message, data } = reply.fault;
  const error = data === undefined ? { code, status, message } : { code, status, message, details: data };
  sendJson(exchange.response, code, JSON.stringify({ error }), reply.headers);
}
