import type { Server } from "node:http";
import type { Server as NetServer, Socket } from "node:net";

export interface DoorParts {
  readonly server: Server;
  /** Whoever takes it has to read `bytes` as if they had just come. */
  readonly takeHttp1: (socket: Socket, bytes: Buffer) => void;
  /** undefined: nobody speaks it. */
  readonly takeHttp2: ((socket: Socket) => void) | undefined;
  /** How long a connection may be silent. */
  readonly silentMs: number;
  /** Says why a connection on which nothing was said is closed. */
  readonly refuseSilent: (socket: Socket) => void;
}

/** How a connection on which HTTP/2 is spoken begins (RFC 9113 §3.4); no HTTP/1 request does. */
const PREFACE = "PRI ";

/** What is known of a connection until its first bytes are there. */
interface Undecided {
  first: Buffer | undefined;
  /** How often the watch has looked at it. */
  looks: number;
}

/** Looks at a connection within its time: one watch for all costs less than a timer for each. */
const LOOKS = 10;

/**
 * Lets HTTP/2 in where an HTTP/1 server listens: the first bytes of a connection tell which it is. Then the connection is
 * its owner's as if nobody had looked; HTTP/1 is parsed straight from the socket.
 */
export function shareDoor(parts: DoorParts): { close(): void } {
  const { server } = parts;
  const undecided = new Map<Socket, Undecided>();
  server.removeAllListeners("connection");
  server.on("connection", look);
  const watch = setInterval(hurry, parts.silentMs / LOOKS);
  watch.unref();

  function look(socket: Socket): void {
    undecided.set(socket, { first: undefined, looks: 0 });
    socket.on("data", take);
    socket.on("end", lose);
    socket.on("error", lose);
  }

  function take(this: Socket, bytes: Buffer): void {
    const state = undecided.get(this);
    if (!state) return;
    const all = state.first ? Buffer.concat([state.first, bytes]) : bytes;
    const word = all.toString("latin1", 0, PREFACE.length);
    if (word.length < PREFACE.length && PREFACE.startsWith(word))
      return void undecided.set(this, { first: all, looks: 0 });
    forget(this);
    if (word === PREFACE && parts.takeHttp2) passHttp2(this, all, parts.takeHttp2);
    else parts.takeHttp1(this, all);
  }

  function passHttp2(socket: Socket, all: Buffer, take: (socket: Socket) => void): void {
    socket.pause();
    socket.unshift(all);
    // HTTP/1 answers callers that have closed their side; in HTTP/2 nobody would notice that they are gone.
    socket.allowHalfOpen = false;
    take(socket);
  }

  function lose(this: Socket): void {
    forget(this);
    this.destroy();
  }

  function hurry(): void {
    for (const [socket, state] of undecided)
      if (++state.looks > LOOKS) {
        undecided.delete(socket);
        parts.refuseSilent(socket);
        socket.destroySoon();
      }
  }

  function forget(socket: Socket): void {
    undecided.delete(socket);
    socket.off("data", take);
    socket.off("end", lose);
    socket.off("error", lose);
  }

  return {
    close(): void {
      clearInterval(watch);
      for (const socket of undecided.keys()) socket.destroy();
    },
  };
}

/** All connections of a server, also those that are still shaking hands: whoever is left in the end is cut off. */
export function trackSockets(server: NetServer): { gone(): Promise<void>; close(): void } {
  const open = new Set<Socket>();
  let emptied: (() => void) | undefined;
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) emptied?.();
    });
  });
  return {
    /** When there is none any more. */
    async gone(): Promise<void> {
      if (open.size > 0) await new Promise<void>(resolve => (emptied = resolve));
    },
    close(): void {
      for (const socket of open) socket.destroy();
    },
  };
}
