/** Describes a value in an error message: its type and the beginning of its content. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === "function") return `a function (${value.name || "without a name"})`;
  if (typeof value !== "object") return `the ${typeof value} ${String(value)}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof (value as { then?: unknown }).then === "function") return "a promise (is `await` missing?)";
  const keys = Object.keys(value).slice(0, 5).join(", ");
  return keys === "" ? "an empty object" : `an object with the keys ${keys}`;
}
