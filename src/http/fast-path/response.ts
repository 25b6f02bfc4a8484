import type { Socket } from "node:net";
import { STATUS_CODES } from "../node-http.ts";
import { encodingOf, type HttpResponse } from "../request.ts";

/** The members of a connection that its response uses. */
export interface ResponseConnection {
  readonly socket: Socket;
  readonly shared: {
    /** Common headers of responses that keep the connection open. */
    readonly keepAliveHeaders: () => string;
    /** Common headers of responses that close it. */
    readonly closeHeaders: () => string;
  };
  /** The response is written in several pieces. */
  onStreaming(): void;
  /** The response is written. */
  onResponseEnd(closesConnection: boolean): void;
}

/** The response to one plain request. */
export class FastResponse implements HttpResponse {
  headersSent = false;
  destroyed = false;
  readonly #connection: ResponseConnection;
  /** Most responses have no listeners. */
  #listeners: { readonly event: string; readonly listener: () => void }[] | undefined;
  /** Headers that were set before `writeHead`. */
  #headers: Record<string, string> | undefined;
  /** The head, until it is sent with the first bytes of the body. */
  #head = "";
  /** Whether it has a Content-Length, or no body. */
  #isSized = false;
  #isChunked = false;
  #closesConnection = false;
  #isEnded = false;

  constructor(connection: ResponseConnection) {
    this.#connection = connection;
  }

  get writableFinished(): boolean {
    return this.#isEnded;
  }

  get writableNeedDrain(): boolean {
    return !this.#isEnded && this.#connection.socket.writableNeedDrain;
  }

  get choosesEncoding(): boolean {
    return true;
  }

  setHeader(name: string, value: string): void {
    this.#headers ??= {};
    this.#headers[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    if (this.headersSent) throw new Error("the head of a response was written twice");
    this.headersSent = true;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    this.#isSized = status === 204 || status === 304;
    for (const name in this.#headers) head += toField(name, this.#headers[name] as string);
    for (const name in headers) {
      const value = headers[name] as string | number;
      if (name === "Content-Length") this.#isSized = true;
      if (name === "Connection") this.#closesConnection = value === "close";
      head += toField(name, value);
    }
    const { closeHeaders, keepAliveHeaders } = this.#connection.shared;
    this.#head = head + (this.#closesConnection ? closeHeaders() : keepAliveHeaders());
  }

  write(text: string | Uint8Array, encoding?: BufferEncoding): boolean {
    if (this.#isEnded || this.destroyed) return false;
    if (text.length === 0) return true;
    if (this.#head !== "") {
      this.#isChunked = !this.#isSized;
      this.#connection.onStreaming();
      this.#head += this.#isSized ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
    }
    return typeof text === "string" ? this.#send(text, encoding) : this.#sendBytes(text);
  }

  end(text = "", encoding?: BufferEncoding): void {
    if (this.#isEnded || this.destroyed) return;
    this.#isEnded = true;
    this.#send(text, encoding);
    if (this.#listeners) process.nextTick(() => this.emit("close"));
    this.#connection.onResponseEnd(this.#closesConnection);
  }

  /** Head and body are one string before the encoding is chosen: choosing it flattens a concatenated string. */
  #send(text: string, encoding: BufferEncoding | undefined): boolean {
    let whole = this.#frame(text, encoding ?? "latin1");
    const used = encoding ?? encodingOf(whole);
    if (used !== (encoding ?? "latin1")) whole = this.#frame(text, used);
    this.#head = "";
    return whole === "" || this.#connection.socket.write(whole, used);
  }

  #sendBytes(bytes: Uint8Array): boolean {
    const { socket } = this.#connection;
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
    if (!this.#isEnded) this.#connection.socket.destroy();
  }

  on(event: string, listener: () => void): void {
    this.#listeners = [...(this.#listeners ?? []), { event, listener }];
  }

  /** The same as `on`: `close` comes once, and each waiter for `drain` removes its listener. */
  once(event: string, listener: () => void): void {
    this.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    const left = this.#listeners?.filter(one => one.event !== event || one.listener !== listener);
    this.#listeners = left?.length ? left : undefined;
  }

  emit(event: "close" | "drain"): void {
    for (const one of this.#listeners ?? []) if (one.event === event) one.listener();
  }

  onConnectionClosed(): void {
    this.destroyed = true;
    this.emit("close");
  }

  /** With the head, if it is not sent, and the framing of the body. */
  #frame(text: string, encoding: BufferEncoding): string {
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

/** RFC 9110 §5.5, and ASCII only, so that the head can be sent as latin1. A line end would start another header. */
function toField(name: string, value: string | number): string {
  if (typeof value === "string" && !/^[\t -~]*$/.test(value))
    throw new TypeError(`the header ${name} has characters that are not allowed in headers`);
  return `${name}: ${value}\r\n`;
}

/** The headers of every response, made once per second. */
export function createCommonHeaders(fixed: string, now: () => number): () => string {
  let second = 0;
  let headers = "";
  return () => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) {
      second = current;
      headers = `${fixed}Date: ${new Date(current * 1_000).toUTCString()}\r\n`;
    }
    return headers;
  };
}
