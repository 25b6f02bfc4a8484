import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { encodingOf, type HttpResponse } from "../request.ts";

/** The connection of a response, as far as it is used here. */
export interface ReplyLine {
  readonly socket: Socket;
  readonly house: {
    /** Headers of responses that leave the connection open. */
    readonly keeping: () => string;
    /** Headers of those that do not. */
    readonly closing: () => string;
  };
  /** The answer may take hours: nothing is kept meanwhile that is not needed for it. */
  linger(): void;
  /** The answer is out; or the connection is to end with it. */
  finish(isLast: boolean): void;
}

/** The response to one plain request. */
export class Reply implements HttpResponse {
  headersSent = false;
  destroyed = false;
  readonly #line: ReplyLine;
  /** Who wants to hear of what; hardly anybody does. */
  #heard: { readonly event: string; readonly heard: () => void }[] | undefined;
  /** What is known before it is known what will be said. */
  #known: Record<string, string> | undefined;
  /** The head, until it goes out with the first words. */
  #head = "";
  /** Whether it tells how many bytes it has, or has none. */
  #isSized = false;
  #isChunked = false;
  #isLast = false;
  #isEnded = false;

  constructor(line: ReplyLine) {
    this.#line = line;
  }

  get writableFinished(): boolean {
    return this.#isEnded;
  }

  get writableNeedDrain(): boolean {
    return !this.#isEnded && this.#line.socket.writableNeedDrain;
  }

  get encodes(): boolean {
    return true;
  }

  setHeader(name: string, value: string): void {
    this.#known ??= {};
    this.#known[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    if (this.headersSent) throw new Error("the head of an answer is written once");
    this.headersSent = true;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    this.#isSized = status === 204 || status === 304;
    for (const name in this.#known) head += field(name, this.#known[name] as string);
    for (const name in headers) {
      const value = headers[name] as string | number;
      if (name === "Content-Length") this.#isSized = true;
      if (name === "Connection") this.#isLast = value === "close";
      head += field(name, value);
    }
    const { closing, keeping } = this.#line.house;
    this.#head = head + (this.#isLast ? closing() : keeping());
  }

  write(text: string | Uint8Array, encoding?: BufferEncoding): boolean {
    if (this.#isEnded || this.destroyed) return false;
    if (text.length === 0) return true;
    if (this.#head !== "") {
      this.#isChunked = !this.#isSized;
      this.#line.linger();
      this.#head += this.#isSized ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
    }
    return typeof text === "string" ? this.#send(text, encoding) : this.#sendBytes(text);
  }

  end(text = "", encoding?: BufferEncoding): void {
    if (this.#isEnded || this.destroyed) return;
    this.#isEnded = true;
    this.#send(text, encoding);
    if (this.#heard) process.nextTick(() => this.tell("close"));
    this.#line.finish(this.#isLast);
  }

  /** To look at a text that was put together makes it one piece, so it is looked at when all of it is. */
  #send(text: string, encoding: BufferEncoding | undefined): boolean {
    let whole = this.#framed(text, encoding ?? "latin1");
    const as = encoding ?? encodingOf(whole);
    if (as !== (encoding ?? "latin1")) whole = this.#framed(text, as);
    this.#head = "";
    return whole === "" || this.#line.socket.write(whole, as);
  }

  #sendBytes(bytes: Uint8Array): boolean {
    const { socket } = this.#line;
    const head = this.#isChunked ? `${this.#head}${bytes.length.toString(16)}\r\n` : this.#head;
    this.#head = "";
    if (head === "") return socket.write(bytes);
    socket.cork();
    socket.write(head, "latin1");
    let hasRoom = socket.write(bytes);
    if (this.#isChunked) hasRoom = socket.write("\r\n", "latin1");
    socket.uncork();
    return hasRoom;
  }

  destroy(): void {
    if (!this.#isEnded) this.#line.socket.destroy();
  }

  on(event: string, heard: () => void): void {
    this.#heard = [...(this.#heard ?? []), { event, heard }];
  }

  /** Every listener is told once: `close` comes once, and so does each `drain` that is waited for. */
  once(event: string, heard: () => void): void {
    this.on(event, heard);
  }

  off(event: string, heard: () => void): void {
    const left = this.#heard?.filter(one => one.event !== event || one.heard !== heard);
    this.#heard = left?.length ? left : undefined;
  }

  tell(event: "close" | "drain"): void {
    for (const one of this.#heard ?? []) if (one.event === event) one.heard();
  }

  /** The connection is gone. */
  lose(): void {
    this.destroyed = true;
    this.tell("close");
  }

  /** With what must stand around it. */
  #framed(text: string, encoding: BufferEncoding): string {
    const bytes = encoding === "latin1" ? text.length : Buffer.byteLength(text);
    if (this.#isChunked) {
      const chunk = text === "" ? "" : `${this.#head}${bytes.toString(16)}\r\n${text}\r\n`;
      return this.#isEnded ? `${chunk}0\r\n\r\n` : chunk;
    }
    if (this.#head === "" || !this.#isEnded) return this.#head + text;
    return this.#isSized
      ? `${this.#head}\r\n${text}`
      : `${this.#head}Content-Length: ${bytes}\r\n\r\n${text}`;
  }
}

/** RFC 9110 §5.5, and only ASCII, so that a head can go out with its words. A line end would begin another header. */
function field(name: string, value: string | number): string {
  if (typeof value === "string" && !/^[\t -~]*$/.test(value))
    throw new TypeError(`the header ${name} has characters that no header may have`);
  return `${name}: ${value}\r\n`;
}

/** The headers that every answer has; they change once in a second. */
export function createStock(more: string, now: () => number): () => string {
  let second = 0;
  let stock = "";
  return () => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) {
      second = current;
      stock = `${more}Date: ${new Date(current * 1_000).toUTCString()}\r\n`;
    }
    return stock;
  };
}
