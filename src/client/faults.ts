import type { RemoteErrorKind } from "./errors.ts";

/** The JSON-RPC error codes that the client acts on; they mean the same in all dialects but v0.1. */
export const ERROR_KINDS: Readonly<Record<number, RemoteErrorKind>> = {
  [-32001]: "task-not-found",
  [-32004]: "unsupported",
  [-32601]: "unsupported",
  // The code of a Dragoman server.
  [-32050]: "unauthenticated",
};

export const toErrorKind = (code: number): RemoteErrorKind => ERROR_KINDS[code] ?? "other";

/** An error over HTTP+JSON: v0.3 sends the JSON-RPC code in the body; v1 may send nothing but the HTTP status. */
export function toHttpErrorKind(status: number, code: unknown): RemoteErrorKind {
  if (typeof code === "number" && code < 0) return toErrorKind(code);
  if (status === 404) return "task-not-found";
  return status === 405 || status === 501 ? "unsupported" : "other";
}
