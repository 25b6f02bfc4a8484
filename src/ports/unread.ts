import type { Scope } from "../model/index.ts";
import type { OperationResult } from "./operation.ts";

/** Gives reserved memory back; a second call does nothing. */
export type Release = () => void;

/** Memory of large responses, from the moment they are encoded until their last byte is handed to the network. */
export interface UnreadBytes {
  /** Bytes that are held now. */
  readonly bytes: number;
  /** Whether the process holds as much as it may. */
  readonly isFull: boolean;
  /** A Fault if this caller has no room left for a large response: called before work that cannot be undone. */
  checkRoom(scope: Scope): void;
  /** A Fault if the response to `answer` would be larger than the caller's remaining room: called before it is encoded. */
  check(scope: Scope, answer: OperationResult): void;
  /**
   * Reserves memory for the response to one caller: Fault("rate-limited") if that caller has too much unread already,
   * Fault("unavailable") if all callers together have. Without a scope only the second limit counts.
   */
  hold(scope: Scope | undefined, bytes: number): Release;
  /** Counts bytes that exist already, without checking a limit. */
  count(bytes: number): Release;
}
