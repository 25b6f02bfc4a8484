import type { GrpcCall } from "./call.ts";

/** Bytes that may wait for a reader in memory; the rest waits in the log. */
const UNSENT_BYTES_MAX = 64 * 1024;

/** Writes to a stream no faster than it is read. */
export function createPacer(call: GrpcCall, stallMs: number) {
  let unsent = 0;
  let wake: (() => void) | undefined;
  call.once("close", () => wake?.());

  const room = (): Promise<boolean> =>
    new Promise(resolve => {
      const stalled = setTimeout(() => resolve(false), stallMs);
      wake = () => {
        clearTimeout(stalled);
        resolve(true);
      };
    });

  return {
    /** Waits for room, if there is none; false: the reader has taken nothing for too long. */
    write(bytes: Buffer): Promise<boolean> | true {
      unsent += bytes.length;
      call.write(bytes, () => {
        unsent -= bytes.length;
        if (unsent < UNSENT_BYTES_MAX) wake?.();
      });
      return unsent < UNSENT_BYTES_MAX || room();
    },
  };
}
