import type { Server as NetServer, Socket } from "node:net";

/** How long a connection may stay open after its last response while the server stops. */
export const CLOSE_GRACE_MS = 1_000;

/** The sockets of a server, also during the TLS handshake: those that are left in the end are destroyed. */
export function trackSockets(server: NetServer): { allClosed(): Promise<void>; close(): void } {
  const open = new Set<Socket>();
  let onEmpty: (() => void) | undefined;
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) onEmpty?.();
    });
  });
  return {
    async allClosed(): Promise<void> {
      if (open.size > 0) await new Promise<void>(resolve => (onEmpty = resolve));
    },
    close(): void {
      for (const socket of open) socket.destroy();
    },
  };
}

/** Checks of a connection within its time limit: one timer for all costs less than one for each. */
const CHECKS = 8;

/**
 * Closes HTTP/1 connections whose client does not read: bytes wait in the socket, and for `stallMs` the client took none of
 * them. A client that reads slowly is not closed. HTTP/2 does not write through its socket and has timers of its own.
 */
export function createStallTimer(stallMs: number, sockets: () => Iterable<Socket>): { close(): void } {
  const stalled = new WeakMap<Socket, { sent: number; checks: number }>();
  const timer = setInterval(() => {
    for (const socket of sockets()) if (socket.writableLength > 0) check(socket);
  }, stallMs / CHECKS);
  timer.unref();

  function check(socket: Socket): void {
    const sent = socket.bytesWritten - socket.writableLength;
    const before = stalled.get(socket);
    if (before?.sent !== sent) stalled.set(socket, { sent, checks: 0 });
    else if (++before.checks >= CHECKS) socket.destroy();
  }

  return { close: () => clearInterval(timer) };
}
