import { createHash } from "node:crypto";
import type { HttpExchange } from "../http/request.ts";
import type { Answers } from "../http/write-large.ts";
import type { Pipeline, Release, Route, WireReply } from "../ports/index.ts";
import { toCall } from "./call.ts";
import { sendFault } from "./rest.ts";

export interface DocumentParts {
  readonly pipeline: Pipeline;
  readonly answers: Answers;
  /** When what is served last changed, in milliseconds. */
  readonly modifiedAt: () => number;
  /** Headers of a request that what is served depends on. */
  readonly vary: readonly string[];
}

/** How long a card may be used without asking again: short, because an agent's card changes with its code. */
const CARD_SECONDS = 60;

/** The documents that tell what is here: callers may keep them for a while, and ask whether they still hold. */
export function createDocuments(parts: DocumentParts) {
  const { answers } = parts;

  async function serve(exchange: HttpExchange, route: Route): Promise<void> {
    const asked = { method: route.method, params: undefined, metadata: undefined, bytes: 0 };
    const reply = await parts.pipeline.handle(toCall("document", exchange, asked));
    if (reply.kind === "one") return send(exchange, reply.json, reply.headers, reply.release);
    if (reply.kind === "fault") return sendFault(exchange, uncached(reply));
    throw new Error("a document cannot be a stream");
  }

  /** `release`: see `Answers`. */
  function send(
    exchange: HttpExchange,
    text: string,
    own: Readonly<Record<string, string>>,
    release?: Release,
  ): void | Promise<void> {
    const { response } = exchange;
    // What is meant for one caller depends on more than the catalogue: it is always told anew.
    if (own["Cache-Control"]?.includes("no-store")) return answers.send(response, 200, text, own, release);
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
    const modifiedAt = parts.modifiedAt();
    const headers = {
      ...own,
      ETag: etag,
      "Last-Modified": new Date(modifiedAt).toUTCString(),
      "Cache-Control": own["Cache-Control"] ?? `public, max-age=${CARD_SECONDS}`,
      Vary: (own.Vary === undefined ? parts.vary : [...parts.vary, own.Vary]).join(", "),
    };
    if (!isUnchanged(exchange, etag, modifiedAt)) return answers.send(response, 200, text, headers, release);
    release?.();
    response.writeHead(304, headers);
    response.end();
  }

  return { serve, send };
}

/** What is refused now may be there in a moment. */
function uncached(reply: WireReply & { kind: "fault" }): WireReply & { kind: "fault" } {
  const { "Cache-Control": _, ...headers } = reply.headers;
  return { ...reply, headers };
}

/** RFC 9110 §13.2.2: the tag decides if it is there, else the date. */
function isUnchanged(exchange: HttpExchange, etag: string, modifiedAt: number): boolean {
  const tags = exchange.headers["if-none-match"];
  if (tags !== undefined)
    return tags.trim() === "*" || tags.split(",").some(tag => weak(tag.trim()) === etag);
  const since = Date.parse(exchange.headers["if-modified-since"] ?? "");
  return Number.isFinite(since) && Math.floor(modifiedAt / 1000) * 1000 <= since;
}

const weak = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);
