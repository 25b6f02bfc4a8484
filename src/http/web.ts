import { PassThrough, Readable } from "node:stream";
import type { HttpRequest, HttpResponse } from "./request.ts";

/** A web-standard request as an exchange of ours, and the promise of the response to it. */
export interface WebExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly replied: Promise<Response>;
  readonly url: URL;
}

export function toExchange(asked: Request): WebExchange {
  if (asked.bodyUsed) throw new TypeError("The body of this request has been read before it came here");
  const url = new URL(asked.url);
  const request = toIncoming(asked, url);
  const { promise: replied, resolve, reject } = Promise.withResolvers<Response>();
  const response = new WebOutgoing(asked.method === "HEAD", resolve);
  const leave = (): void => void response.destroy();
  asked.signal.addEventListener("abort", leave);
  response.once("close", () => {
    asked.signal.removeEventListener("abort", leave);
    // A body that nobody wants to read is not waited for.
    request.destroy();
    reject(asked.signal.reason ?? new Error("The exchange was broken off"));
  });
  if (asked.signal.aborted) leave();
  return { request, response, replied, url };
}

function toIncoming(asked: Request, url: URL): HttpRequest & Readable {
  const body = asked.body
    ? Readable.fromWeb(asked.body as Parameters<typeof Readable.fromWeb>[0])
    : Readable.from([]);
  // That it broke off is told by its end.
  body.on("error", () => {});
  const headers = { host: url.host, ...Object.fromEntries(asked.headers) };
  // There is no connection that the rest of a body could spoil.
  return Object.assign(body, { method: asked.method, headers, complete: true });
}

/** What a response is that has no socket: its reader takes it from a web stream, at its own pace. */
class WebOutgoing implements HttpResponse {
  headersSent = false;
  readonly #pipe = new PassThrough();
  readonly #isHead: boolean;
  readonly #reply: (response: Response) => void;
  #head: ResponseInit & { readonly status: number } = { status: 500 };
  #streams = false;
  readonly #known: Record<string, string> = {};

  constructor(isHead: boolean, reply: (response: Response) => void) {
    this.#isHead = isHead;
    this.#reply = reply;
    // The reader hears of it from the web stream.
    this.#pipe.on("error", () => {});
  }

  get destroyed(): boolean {
    return this.#pipe.destroyed;
  }

  get writableNeedDrain(): boolean {
    return this.#pipe.writableNeedDrain;
  }

  setHeader(name: string, value: string): void {
    this.#known[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    this.headersSent = true;
    const texts = Object.entries({ ...this.#known, ...headers }).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    this.#head = { status, headers: texts };
  }

  write(text: string | Uint8Array, encoding: BufferEncoding = "utf8"): boolean {
    if (this.#isHead) return true;
    if (!this.#streams) this.#reply(new Response(this.#open(), this.#head));
    return this.#pipe.write(text, encoding);
  }

  end(text = ""): void {
    if (this.#streams) return void this.#pipe.end(text);
    const isEmpty = this.#isHead || EMPTY.has(this.#head.status);
    this.#reply(new Response(isEmpty ? null : text, this.#head));
    this.#pipe.resume().end();
  }

  destroy(): void {
    this.#pipe.destroy();
  }

  on(event: string, heard: () => void): void {
    this.#pipe.on(event, heard);
  }

  once(event: string, heard: () => void): void {
    this.#pipe.once(event, heard);
  }

  off(event: string, heard: () => void): void {
    this.#pipe.off(event, heard);
  }

  #open(): ReadableStream {
    this.#streams = true;
    return Readable.toWeb(this.#pipe) as ReadableStream;
  }
}

/** Statuses that allow no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 304]);
