import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface SniffParts {
  readonly server: Server;
  /** Must read `bytes` as if they had just arrived. */
  readonly takeHttp1: (socket: Socket, bytes: Buffer) => void;
  /** undefined: HTTP/2 is off. */
  readonly takeHttp2: ((socket: Socket) => void) | undefined;
  /** How long a connection may be silent. */
  readonly silentMs: number;
  /** Tells a client that sent nothing why its connection is closed. */
  readonly refuseSilent: (socket: Socket) => void;
}

/** The beginning of the HTTP/2 preface (RFC 9113 §3.4); no HTTP/1 request begins like this. */
const PREFACE = "PRI ";

/** A connection until its first bytes are there. */
interface Undecided {
  first: Buffer | undefined;
  /** Checks of the timer since the connection was opened. */
  checks: number;
}

/** Checks of a connection within its time limit: one timer for all costs less than one for each. */
const CHECKS = 10;

/** Serves HTTP/1 and HTTP/2 at one port: the first bytes of a connection decide which one it is. */
export function sniffProtocol(parts: SniffParts): { close(): void } {
  const { server } = parts;
  const undecided = new Map<Socket, Undecided>();
  server.removeAllListeners("connection");
  server.on("connection", onConnection);
  const timer = setInterval(closeSilent, parts.silentMs / CHECKS);
  timer.unref();

  function onConnection(socket: Socket): void {
    undecided.set(socket, { first: undefined, checks: 0 });
    socket.on("data", onData);
    socket.on("end", onEnd);
    socket.on("error", onEnd);
  }

  function onData(this: Socket, bytes: Buffer): void {
    const state = undecided.get(this);
    if (!state) return;
    const all = state.first ? Buffer.concat([state.first, bytes]) : bytes;
    const start = all.toString("latin1", 0, PREFACE.length);
    if (start.length < PREFACE.length && PREFACE.startsWith(start))
      return void undecided.set(this, { first: all, checks: 0 });
    detach(this);
    if (start === PREFACE && parts.takeHttp2) passHttp2(this, all, parts.takeHttp2);
    else parts.takeHttp1(this, all);
  }

  function passHttp2(socket: Socket, all: Buffer, take: (socket: Socket) => void): void {
    socket.pause();
    socket.unshift(all);
    // HTTP/1 answers clients that have closed their side; in HTTP/2 it would go unnoticed that they are gone.
    socket.allowHalfOpen = false;
    take(socket);
  }

  function onEnd(this: Socket): void {
    detach(this);
    this.destroy();
  }

  function closeSilent(): void {
    for (const [socket, state] of undecided)
      if (++state.checks > CHECKS) {
        undecided.delete(socket);
        parts.refuseSilent(socket);
        socket.destroySoon();
      }
  }

  function detach(socket: Socket): void {
    undecided.delete(socket);
    socket.off("data", onData);
    socket.off("end", onEnd);
    socket.off("error", onEnd);
  }

  return {
    close(): void {
      clearInterval(timer);
      for (const socket of undecided.keys()) socket.destroy();
    },
  };
}
