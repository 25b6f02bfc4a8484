import type { ReplyContext } from "../../ports/index.ts";

export type Version = "1.0" | "0.3" | "0.2" | "0.1";
/** The versions of the official protocol whose methods are answered here. */
export const SPOKEN: readonly Version[] = ["1.0", "0.3", "0.2", "0.1"];

/** The version as the caller wrote it: header, else query parameter. Empty is the same as none. */
export function versionText(call: ReplyContext): string | undefined {
  return (call.headers["a2a-version"] ?? call.query.get("A2A-Version"))?.trim() || undefined;
}

/**
 * The version that the caller names: a patch number does not count, `1` is `1.0`.
 * `undefined`: none was named. `"unknown"`: one that nobody here speaks.
 */
export function versionOf(call: ReplyContext): Version | "unknown" | undefined {
  const named = versionText(call);
  return named === undefined ? undefined : toVersion(named);
}

function toVersion(named: string): Version | "unknown" {
  // As the official clients spell it.
  if (named === "1.0" || named === "0.3") return named;
  const found = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.\d{1,9})?$/.exec(named);
  const version = found && `${Number(found[1])}.${Number(found[2] ?? 0)}`;
  return SPOKEN.find(one => one === version) ?? "unknown";
}
