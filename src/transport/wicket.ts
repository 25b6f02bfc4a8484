import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { encodingOf, type Incoming, type Outgoing } from "./exchange.ts";
import { type PlainHead, type PlainLimits, type PlainRequest, readPlain } from "./plain-request.ts";

export interface WicketParts {
  serve(request: Incoming, response: Outgoing, url: string): void;
  /** The large door: the connection is its own from now on, with what was just read from it. */
  pass(socket: Socket, bytes: Buffer): void;
  readonly limits: PlainLimits;
  /** How long a connection may stay open after an answer. */
  readonly keepAliveMs: number;
  readonly now: () => number;
}

/** Looks at a connection within its time: one watch for all costs less than a timer for each. */
const LOOKS = 10;

/**
 * A small door beside the large one of Node's HTTP server. A request that arrives whole and plain, as most do, is read and
 * answered on the socket itself, which takes half of the time and a third of the memory. Whatever else comes is passed on, with
 * its connection and for good: what this door does not understand, it does not judge (docs/decisions/0021).
 */
export function createWicket(parts: WicketParts) {
  const lines = new Set<Line>();
  const seconds = Math.round(parts.keepAliveMs / 1_000);
  const watch = setInterval(() => {
    for (const line of lines) if (line.isIdle && ++line.looks > LOOKS) line.socket.destroy();
  }, parts.keepAliveMs / LOOKS);
  watch.unref();
  const keeping = createStock(`Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`, parts.now);
  const patience = createPatience();
  const house: House = { ...parts, lines, keeping, closing: createStock("", parts.now), wait: patience.wait };

  return {
    /** A new connection, with its first bytes. */
    take(socket: Socket, bytes: Buffer): void {
      new Line(house, socket).take(bytes);
    },
    closeIdle(): void {
      for (const line of lines) if (line.isIdle) line.socket.end();
    },
    closeAll(): void {
      for (const { socket } of lines) socket.destroy();
    },
    close(): void {
      clearInterval(watch);
      patience.close();
    },
  };
}

interface House extends WicketParts {
  readonly lines: Set<Line>;
  /** What answers say that leave the connection open. */
  readonly keeping: () => string;
  /** What those say that do not. */
  readonly closing: () => string;
  /** Tells the line when it has waited long enough. */
  readonly wait: (line: Line) => void;
}

/** Between two looks at those whose requests are not whole yet. */
const PATIENCE_MS = 50;

/** Of one request: all that has come is read again with each of them, so that many small ones would cost the square. */
const PIECES_MAX = 32;

/** One timer for all who wait, and none while nobody does. */
function createPatience() {
  let waiting: Line[] = [];
  let timer: NodeJS.Timeout | undefined;
  function look(): void {
    const looked = waiting;
    waiting = [];
    timer = undefined;
    for (const line of looked) line.hurry();
  }
  return {
    wait(line: Line): void {
      waiting.push(line);
      timer ??= setTimeout(look, PATIENCE_MS).unref();
    },
    close: () => clearTimeout(timer),
  };
}

const LINE = Symbol("line");
type LineSocket = Socket & { [LINE]?: Line | undefined };

/** One connection, as long as what comes over it is plain. */
class Line {
  readonly house: House;
  readonly socket: LineSocket;
  /** How often the watch has looked at it since its last answer. */
  looks = 0;
  #reply: Reply | undefined;
  /** The head of its last request. */
  #head: PlainHead | undefined;
  /** What came before the last answer was given. */
  #early: Buffer | undefined;
  /** What there is of a request whose body is still to come: many send it after the head. */
  #begun: Buffer | undefined;
  /** In how many pieces that came. */
  #pieces = 0;
  /** How often it was looked at since then; undefined: nobody looks. */
  #waits: number | undefined;

  constructor(house: House, socket: LineSocket) {
    this.house = house;
    this.socket = socket;
    socket[LINE] = this;
    house.lines.add(this);
    socket.on("data", take);
    socket.on("drain", drain);
    socket.on("end", leave);
    socket.on("error", ignore);
    socket.on("close", lose);
  }

  get isIdle(): boolean {
    return this.#reply === undefined && this.#begun === undefined;
  }

  begin(asked: PlainRequest): void {
    const reply = new Reply(this);
    this.#reply = reply;
    this.#pieces = 0;
    this.#head = asked.head;
    this.house.serve(new PlainIncoming(asked, this.socket), reply, asked.head.url);
  }

  /** The answer may take hours: nothing is kept meanwhile that is not needed for it. */
  linger(): void {
    this.#head = undefined;
  }

  take(bytes: Buffer): void {
    if (this.#reply) {
      // Whoever does not wait for the answer has to wait for the next one.
      this.#early = bytes;
      this.socket.pause();
      return;
    }
    const all = this.#begun ? Buffer.concat([this.#begun, bytes]) : bytes;
    this.#begun = undefined;
    const asked = readPlain(all, this.house.limits, this.#head);
    if (asked === "begun") this.#wait(all);
    else if (asked) this.begin(asked);
    else this.#pass(all);
  }

  #wait(bytes: Buffer): void {
    this.#pieces += 1;
    if (this.#pieces > PIECES_MAX) return this.#pass(bytes);
    this.#begun = bytes;
    if (this.#waits === undefined) this.house.wait(this);
    this.#waits = 0;
  }

  /** Whoever lets a body wait for long may be told things before it is there; that is for the large door. */
  hurry(): void {
    const waits = this.#waits ?? 0;
    this.#waits = undefined;
    if (!this.#begun) return;
    if (waits > 0) return this.#pass(this.#begun);
    this.#waits = 1;
    this.house.wait(this);
  }

  #pass(bytes: Buffer): void {
    this.forget();
    this.house.pass(this.socket, bytes);
  }

  /** The answer is out; or the connection is to end with it. */
  finish(isLast: boolean): void {
    this.#reply = undefined;
    this.looks = 0;
    if (isLast) return void this.socket.end();
    const early = this.#early;
    if (!early) return;
    this.#early = undefined;
    this.socket.resume();
    this.take(early);
  }

  drain(): void {
    this.#reply?.tell("drain");
  }

  lose(): void {
    this.forget();
    this.#reply?.lose();
  }

  forget(): void {
    const { socket } = this;
    this.#begun = undefined;
    this.house.lines.delete(this);
    socket[LINE] = undefined;
    socket.off("data", take);
    socket.off("drain", drain);
    socket.off("end", leave);
    socket.off("error", ignore);
    socket.off("close", lose);
  }
}

// One function for all connections: a closure for each would cost memory as long as it is open.
function take(this: LineSocket, bytes: Buffer): void {
  this[LINE]?.take(bytes);
}
function drain(this: LineSocket): void {
  this[LINE]?.drain();
}
/** As Node has it: whoever closes his side is gone. */
function leave(this: LineSocket): void {
  this.end();
}
/** It is closed, and that is what counts. */
function ignore(): void {}
function lose(this: LineSocket): void {
  this[LINE]?.lose();
}

const NOTHING = Buffer.alloc(0);

/** Nothing of it is still to come. */
class PlainIncoming implements Incoming {
  readonly method: string;
  readonly headers: Incoming["headers"];
  #body: Buffer;
  readonly complete = true;
  readonly readableEnded = false;
  readonly socket: Socket;

  constructor({ head, body }: PlainRequest, socket: Socket) {
    this.method = head.method;
    this.headers = head.headers;
    this.#body = body;
    this.socket = socket;
  }

  /** It is read once, and kept no longer: a stream may stay open for hours. */
  takeBody(): Buffer {
    const body = this.#body;
    this.#body = NOTHING;
    return body;
  }
  on(): void {}
  resume(): void {}
}

class Reply implements Outgoing {
  headersSent = false;
  destroyed = false;
  readonly #line: Line;
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

  constructor(line: Line) {
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

  write(text: string, encoding?: BufferEncoding): boolean {
    if (this.#isEnded || this.destroyed) return false;
    if (text === "") return true;
    if (this.#head !== "") {
      this.#isChunked = !this.#isSized;
      this.#line.linger();
      this.#head += this.#isSized ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
    }
    return this.#send(text, encoding);
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

  destroy(): void {
    if (!this.#isEnded) this.#line.socket.destroy();
  }

  on(event: string, heard: () => void): void {
    this.#heard = [...(this.#heard ?? []), { event, heard }];
  }

  /** What is told once is told nobody twice: `close` comes once, and nobody waits once for anything else. */
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
function createStock(more: string, now: () => number): () => string {
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
