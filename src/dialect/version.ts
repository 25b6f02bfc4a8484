import type { WireCall } from "../ports.ts";

export type Version = "1.0" | "0.3" | "0.2" | "0.1";
export const VERSIONS: readonly Version[] = ["1.0", "0.3", "0.2", "0.1"];

/** Versions whose methods are answered today. */
export const SPOKEN: readonly Version[] = ["1.0", "0.3"];

/**
 * The version that the caller names: header, else query parameter; a patch number does not count, `1` is `1.0`.
 * `undefined`: none was named. `"unknown"`: one that nobody here speaks.
 */
export function versionOf(call: WireCall): Version | "unknown" | undefined {
  const named = call.headers["a2a-version"] ?? call.query.get("A2A-Version");
  return named ? toVersion(named) : undefined;
}

function toVersion(named: string): Version | "unknown" | undefined {
  // As the official clients spell it.
  if (named === "1.0" || named === "0.3") return named;
  if (named.trim() === "") return undefined;
  const found = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.\d{1,9})?$/.exec(named.trim());
  const version = found && `${Number(found[1])}.${Number(found[2] ?? 0)}`;
  return VERSIONS.find(one => one === version) ?? "unknown";
}
