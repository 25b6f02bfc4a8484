import type { Socket } from "node:net";
import type { HttpRequest, HttpResponse } from "../request.ts";
import { type ParsedRequest, type ParseLimits, parseRequest, type RequestHead } from "./parse.ts";
import { createCommonHeaders, FastResponse } from "./response.ts";

export interface FastPathParts {
  serve(request: HttpRequest, response: HttpResponse, url: string): void;
  /** Passes a connection to Node's HTTP server for good, with the bytes that were just read from it. */
  passToNode(socket: Socket, bytes: Buffer): void;
  readonly limits: ParseLimits;
  /** How long a connection may stay open after a response. */
  readonly keepAliveMs: number;
  readonly now: () => number;
}

/** Checks of a connection within its time limit: one timer for all costs less than one for each. */
const CHECKS = 10;

/**
 * Serves plain HTTP/1.1 requests on the socket itself, at half the time and a third of the memory of Node's HTTP server.
 * Every other request is passed to Node's server, together with its connection and for good: the fast path refuses nothing and
 * sends no error of its own (README.md, docs/decisions/0021).
 */
export function createFastPath(parts: FastPathParts) {
  const connections = new Set<FastConnection>();
  const seconds = Math.round(parts.keepAliveMs / 1_000);
  const timer = setInterval(() => {
    for (const connection of connections) if (connection.isIdle) connection.checkIdle();
  }, parts.keepAliveMs / CHECKS);
  timer.unref();
  const incomplete = createIncompleteTimer();
  const shared: SharedState = {
    ...parts,
    connections,
    keepAliveHeaders: createCommonHeaders(
      `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`,
      parts.now,
    ),
    closeHeaders: createCommonHeaders("", parts.now),
    waitForBody: incomplete.add,
  };

  return {
    /** A new connection, with its first bytes. */
    take(socket: Socket, bytes: Buffer): void {
      new FastConnection(shared, socket).take(bytes);
    },
    closeIdle(): void {
      for (const connection of connections) if (connection.isIdle) connection.socket.end();
    },
    closeAll(): void {
      for (const { socket } of connections) socket.destroy();
    },
    *sockets(): Iterable<Socket> {
      for (const { socket } of connections) yield socket;
    },
    close(): void {
      clearInterval(timer);
      incomplete.close();
    },
  };
}

interface SharedState extends FastPathParts {
  readonly connections: Set<FastConnection>;
  /** Common headers of responses that keep the connection open. */
  readonly keepAliveHeaders: () => string;
  /** Common headers of responses that close it. */
  readonly closeHeaders: () => string;
  /** Calls `checkIncomplete` of the connection later. */
  readonly waitForBody: (connection: FastConnection) => void;
}

/** Between two checks of the connections whose request is incomplete. */
const INCOMPLETE_MS = 50;

/** Pieces of one request: all bytes are parsed again with each piece, so that many small ones would cost the square. */
const PIECES_MAX = 32;

/** One timer for all incomplete requests, and none while there are no such requests. */
function createIncompleteTimer() {
  let waiting: FastConnection[] = [];
  let timer: NodeJS.Timeout | undefined;
  function check(): void {
    const checked = waiting;
    waiting = [];
    timer = undefined;
    for (const connection of checked) connection.checkIncomplete();
  }
  return {
    add(connection: FastConnection): void {
      waiting.push(connection);
      timer ??= setTimeout(check, INCOMPLETE_MS).unref();
    },
    close: () => clearTimeout(timer),
  };
}

const CONNECTION = Symbol("connection");
type FastSocket = Socket & { [CONNECTION]?: FastConnection | undefined };

/** One connection, as long as all of its requests are plain. */
class FastConnection {
  readonly shared: SharedState;
  readonly socket: FastSocket;
  /** Checks of the timer since the last response. */
  checks = 0;
  #response: FastResponse | undefined;
  /** The head of the last request: the next one often has the same. */
  #head: RequestHead | undefined;
  /** Bytes that arrived before the last response was complete. */
  #early: Buffer | undefined;
  /** The bytes of an incomplete request: many clients send the body after the head. */
  #incomplete: Buffer | undefined;
  /** The number of pieces in which these arrived. */
  #pieces = 0;
  /** Checks since the first bytes of the request; undefined: no check is due. */
  #waits: number | undefined;

  constructor(shared: SharedState, socket: FastSocket) {
    this.shared = shared;
    this.socket = socket;
    socket[CONNECTION] = this;
    shared.connections.add(this);
    socket.on("data", onData);
    socket.on("drain", onDrain);
    socket.on("end", onEnd);
    socket.on("error", onError);
    socket.on("close", onClose);
  }

  get isIdle(): boolean {
    return this.#response === undefined && this.#incomplete === undefined;
  }

  /** While bytes of a response wait in the socket, the connection is in use: `createStallTimer` closes it if need be. */
  checkIdle(): void {
    if (this.socket.writableLength > 0) this.checks = 0;
    else if (++this.checks > CHECKS) this.socket.destroy();
  }

  take(bytes: Buffer): void {
    if (this.#response || this.socket.writableNeedDrain) {
      // The next request waits until the response before it is complete, and is on its way.
      this.#early = bytes;
      this.socket.pause();
      return;
    }
    const isFirst = this.#incomplete === undefined;
    const all = this.#incomplete ? Buffer.concat([this.#incomplete, bytes]) : bytes;
    this.#incomplete = undefined;
    const parsed = parseRequest(all, this.shared.limits, this.#head);
    if (parsed === "incomplete") this.#wait(all, isFirst);
    else if (parsed) this.#serve(parsed);
    else this.#passToNode(all);
  }

  #serve(parsed: ParsedRequest): void {
    const response = new FastResponse(this);
    this.#response = response;
    this.#pieces = 0;
    this.#head = parsed.head;
    this.shared.serve(new FastRequest(parsed, this.socket), response, parsed.head.url);
  }

  /** A streamed response may take hours: memory that it does not need is freed. */
  onStreaming(): void {
    this.#head = undefined;
  }

  /** The time counts from the first bytes of a request: a body that arrives byte by byte must not restart it. */
  #wait(bytes: Buffer, isFirst: boolean): void {
    this.#pieces += 1;
    if (this.#pieces > PIECES_MAX) return this.#passToNode(bytes);
    this.#incomplete = bytes;
    if (!isFirst) return;
    if (this.#waits === undefined) this.shared.waitForBody(this);
    this.#waits = 0;
  }

  /** A request whose body is late may be answered before the body is there; Node's server can do that. */
  checkIncomplete(): void {
    const waits = this.#waits ?? 0;
    this.#waits = undefined;
    if (!this.#incomplete) return;
    if (waits > 0) return this.#passToNode(this.#incomplete);
    this.#waits = 1;
    this.shared.waitForBody(this);
  }

  #passToNode(bytes: Buffer): void {
    this.#detach();
    this.shared.passToNode(this.socket, bytes);
  }

  /** The response is written. */
  onResponseEnd(closesConnection: boolean): void {
    this.#response = undefined;
    this.checks = 0;
    if (closesConnection) return void this.socket.end();
    if (this.#early) this.#takeEarly(this.#early);
  }

  #takeEarly(early: Buffer): void {
    if (this.socket.writableNeedDrain) return;
    this.#early = undefined;
    this.socket.resume();
    this.take(early);
  }

  onDrain(): void {
    if (this.#response) this.#response.emit("drain");
    else if (this.#early) this.#takeEarly(this.#early);
  }

  onClose(): void {
    this.#detach();
    this.#response?.onConnectionClosed();
  }

  #detach(): void {
    const { socket } = this;
    this.#incomplete = undefined;
    this.shared.connections.delete(this);
    socket[CONNECTION] = undefined;
    socket.off("data", onData);
    socket.off("drain", onDrain);
    socket.off("end", onEnd);
    socket.off("error", onError);
    socket.off("close", onClose);
  }
}

// One function for all connections: a closure for each would cost memory as long as the connection is open.
function onData(this: FastSocket, bytes: Buffer): void {
  this[CONNECTION]?.take(bytes);
}
function onDrain(this: FastSocket): void {
  this[CONNECTION]?.onDrain();
}
/** As in Node's server: a client that closes its side is gone. */
function onEnd(this: FastSocket): void {
  this.end();
}
/** `close` follows. */
function onError(): void {}
function onClose(this: FastSocket): void {
  this[CONNECTION]?.onClose();
}

const EMPTY = Buffer.alloc(0);

/** A request that has arrived whole. */
class FastRequest implements HttpRequest {
  readonly method: string;
  readonly headers: HttpRequest["headers"];
  #body: Buffer;
  readonly complete = true;
  readonly readableEnded = false;
  readonly socket: Socket;

  constructor({ head, body }: ParsedRequest, socket: Socket) {
    this.method = head.method;
    this.headers = head.headers;
    this.#body = body;
    this.socket = socket;
  }

  /** Dropped after it is read: the response may be a stream of hours. */
  takeBody(): Buffer {
    const body = this.#body;
    this.#body = EMPTY;
    return body;
  }
  on(): void {}
  resume(): void {}
}
