import type { Socket } from "node:net";

/** Looks at a connection within its time: one watch for all costs less than a timer for each. */
const LOOKS = 8;

/**
 * Ends connections of HTTP/1 whose reader takes nothing: bytes wait in the socket, and for `stallMs` not one of them was
 * taken. A reader that takes some, however slowly, is left alone. HTTP/2 writes past its socket and has watches of its own.
 */
export function createStalls(stallMs: number, sockets: () => Iterable<Socket>): { close(): void } {
  const stuck = new WeakMap<Socket, { taken: number; looks: number }>();
  const watch = setInterval(() => {
    for (const socket of sockets()) if (socket.writableLength > 0) look(socket);
  }, stallMs / LOOKS);
  watch.unref();

  function look(socket: Socket): void {
    const taken = socket.bytesWritten - socket.writableLength;
    const before = stuck.get(socket);
    if (before?.taken !== taken) stuck.set(socket, { taken, looks: 0 });
    else if (++before.looks >= LOOKS) socket.destroy();
  }

  return { close: () => clearInterval(watch) };
}
