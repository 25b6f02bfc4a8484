import type { Socket } from "node:net";
import type { HttpRequest, HttpResponse } from "../request.ts";
import { type PlainHead, type PlainLimits, type PlainRequest, readPlain } from "./parse.ts";
import { createStock, Reply } from "./response.ts";

export interface WicketParts {
  serve(request: HttpRequest, response: HttpResponse, url: string): void;
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
    for (const line of lines) if (line.isIdle) line.look();
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
    *sockets(): Iterable<Socket> {
      for (const { socket } of lines) yield socket;
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
  /** How often it was looked at since its first bytes came; undefined: it is not looked at. */
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

  /** While bytes of an answer wait in the socket, the connection is in use: `createStalls` ends one whose reader takes none of them. */
  look(): void {
    if (this.socket.writableLength > 0) this.looks = 0;
    else if (++this.looks > LOOKS) this.socket.destroy();
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
    if (this.#reply || this.socket.writableNeedDrain) {
      // The next request waits until the answer before it is given, and is on its way.
      this.#early = bytes;
      this.socket.pause();
      return;
    }
    const isFirst = this.#begun === undefined;
    const all = this.#begun ? Buffer.concat([this.#begun, bytes]) : bytes;
    this.#begun = undefined;
    const asked = readPlain(all, this.house.limits, this.#head);
    if (asked === "begun") this.#wait(all, isFirst);
    else if (asked) this.begin(asked);
    else this.#pass(all);
  }

  /** The time of a request counts from its first bytes: a body that comes byte by byte must not begin it anew. */
  #wait(bytes: Buffer, isFirst: boolean): void {
    this.#pieces += 1;
    if (this.#pieces > PIECES_MAX) return this.#pass(bytes);
    this.#begun = bytes;
    if (!isFirst) return;
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
    if (this.#early) this.#goOn(this.#early);
  }

  #goOn(early: Buffer): void {
    if (this.socket.writableNeedDrain) return;
    this.#early = undefined;
    this.socket.resume();
    this.take(early);
  }

  drain(): void {
    if (this.#reply) this.#reply.tell("drain");
    else if (this.#early) this.#goOn(this.#early);
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
class PlainIncoming implements HttpRequest {
  readonly method: string;
  readonly headers: HttpRequest["headers"];
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
