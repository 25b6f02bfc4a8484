import { createHash } from "node:crypto";
import type { HttpExchange } from "../http/request.ts";
import type { Release, Route, WireCall, WireReply } from "../ports/index.ts";
import { type HttpBindingParts, HttpCall, NO_BODY } from "./call.ts";
import { sendFault } from "./rest.ts";

export interface DocumentParts extends Omit<HttpBindingParts, "streams"> {
  /** When the served documents last changed, in milliseconds. */
  readonly modifiedAt: () => number;
  /** Request headers on which the documents depend. */
  readonly vary: readonly string[];
  /** Browsers that ask for `/` are sent to the console. */
  readonly hasConsole: boolean;
}

/** How long a card may be cached without revalidation: short, because an agent's card changes with its code. */
const CARD_SECONDS = 60;

class DocumentCall extends HttpCall {
  override get isPublic(): boolean {
    return true;
  }

  override read(): WireCall {
    return this.parse();
  }
  override withoutBody(): WireCall {
    return this.parse();
  }
  protected override parse(): WireCall {
    return this.toCall(NO_BODY);
  }
}

/** Agent cards and lists of agents: cacheable, with conditional requests. */
export function createDocuments(parts: DocumentParts) {
  const { writer } = parts;

  async function serve(exchange: HttpExchange, route: Route): Promise<void> {
    if (parts.hasConsole && route.path === "/" && asksForPage(exchange)) {
      const headers = {
        Location: `${exchange.base()}/console/`,
        Vary: "Accept",
        "Cache-Control": "no-store",
      };
      exchange.response.writeHead(302, headers);
      exchange.response.end();
      return;
    }
    const reply = await parts.pipeline.handle(new DocumentCall(exchange, route, parts.bodies));
    if (reply.kind === "unary") return send(exchange, reply.body, reply.headers, reply.release);
    if (reply.kind === "fault") return sendFault(exchange, withoutCaching(reply));
    throw new Error("a document cannot be a stream");
  }

  /** `release`: see `ResponseWriter`. */
  function send(
    exchange: HttpExchange,
    text: string,
    own: Readonly<Record<string, string>>,
    release?: Release,
  ): void | Promise<void> {
    const { response } = exchange;
    // A document for one caller depends on more than the catalog: it is never cached.
    if (own["Cache-Control"]?.includes("no-store")) return writer.send(response, 200, text, own, release);
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
    const modifiedAt = parts.modifiedAt();
    const headers = {
      ...own,
      ETag: etag,
      "Last-Modified": new Date(modifiedAt).toUTCString(),
      "Cache-Control": own["Cache-Control"] ?? `public, max-age=${CARD_SECONDS}`,
      Vary: (own.Vary === undefined ? parts.vary : [...parts.vary, own.Vary]).join(", "),
    };
    if (!isNotModified(exchange, etag, modifiedAt)) return writer.send(response, 200, text, headers, release);
    release?.();
    response.writeHead(304, headers);
    response.end();
  }

  return { serve, send };
}

/** Programs accept JSON or anything; browsers name HTML. */
const asksForPage = ({ headers }: HttpExchange): boolean => headers.accept?.includes("text/html") ?? false;

/** A document that is refused now may exist in a moment. */
function withoutCaching(reply: WireReply & { kind: "fault" }): WireReply & { kind: "fault" } {
  const { "Cache-Control": _, ...headers } = reply.headers;
  return { ...reply, headers };
}

/** RFC 9110 §13.2.2: If-None-Match decides if it is there, else If-Modified-Since. */
function isNotModified(exchange: HttpExchange, etag: string, modifiedAt: number): boolean {
  const tags = exchange.headers["if-none-match"];
  if (tags !== undefined)
    return tags.trim() === "*" || tags.split(",").some(tag => tag.trim().replace(/^W\//, "") === etag);
  const since = Date.parse(exchange.headers["if-modified-since"] ?? "");
  return Number.isFinite(since) && Math.floor(modifiedAt / 1000) * 1000 <= since;
}
