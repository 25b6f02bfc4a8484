import type { Scope } from "../model/index.ts";
import type { Answer } from "./operation.ts";

/** Gives the room back; a second call does nothing. */
export type Release = () => void;

/** Memory of large answers, from the moment they are built until their last byte is handed to the network. */
export interface UnreadBytes {
  /** Bytes that are held now. */
  readonly bytes: number;
  /** Whether the process holds as much as it may. */
  readonly isFull: boolean;
  /** A Fault if this caller has no room left for a large answer: asked before work is begun that cannot be undone. */
  checkRoom(scope: Scope): void;
  /** A Fault if `answer` would be larger than the room that its caller has left; asked before it is built. */
  check(scope: Scope, answer: Answer): void;
  /**
   * Takes room for an answer of one caller: Fault("rate-limited") if that caller has too much unread already,
   * Fault("unavailable") if all callers together have. Without a scope only the second counts.
   */
  hold(scope: Scope | undefined, bytes: number): Release;
  /** Counts bytes that exist already, without asking whether there is room. */
  count(bytes: number): Release;
}
