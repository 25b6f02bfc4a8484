/** What must not stand in a log or a trace, by what it is called and by what it looks like. */

const GONE = "[redacted]";

/** Names of members whose values are nobody's business. */
const SECRET_NAME =
  /authorization|cookie|password|passwd|secret|token(?!s)|api[-_]?key|credential|private[-_]?key/i;

const LOOKS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${GONE}`],
  [/(:\/\/)[^\s/@:]*:[^\s/@]*@/g, `$1${GONE}@`],
  [
    /\b((?:api[-_]?key|password|secret|access_token|token)["']?\s*[=:]\s*["']?)[^\s"',;&}]{4,}/gi,
    `$1${GONE}`,
  ],
  // Only where a row of such characters begins, and only if it ends as a JWT does: else a long row would be read again
  // from each "-eyJ" in it.
  [/(?<![\w-])(?=[\w-]+\.[\w-]{8,}\.)([\w-]*?)\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, `$1${GONE}`],
  [/\bsk-[\w-]{16,}/g, GONE],
];

/** A text without what looks like a secret. */
export function scrub(text: string): string {
  let scrubbed = text;
  for (const [look, instead] of LOOKS) scrubbed = scrubbed.replace(look, instead);
  return scrubbed;
}

/** Nesting of facts in a line of the log. */
const DEPTH_MAX = 6;
/** Members and entries of one object. */
const MEMBERS_MAX = 100;
/** Characters of one text: a stack with its causes fits. */
const CHARS_MAX = 16_384;

/** A copy that can be written down: bounded, without secrets. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return scrub(shorten(value, CHARS_MAX));
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return redactError(value, depth);
  if ("toJSON" in value && typeof value.toJSON === "function") return redact(value.toJSON(), depth + 1);
  if (depth >= DEPTH_MAX) return Array.isArray(value) ? "[…]" : "{…}";
  if (Array.isArray(value)) return value.slice(0, MEMBERS_MAX).map(one => redact(one, depth + 1));
  const members = Object.entries(value).slice(0, MEMBERS_MAX);
  return Object.fromEntries(
    members.map(([name, one]) => [name, SECRET_NAME.test(name) && one ? GONE : redact(one, depth + 1)]),
  );
}

/** Libraries hang whole requests on their errors, with headers and all: what is told is what went wrong. */
function redactError(error: Error, depth: number): object {
  const { name, message, stack, cause, code } = error as Error & { readonly code?: unknown };
  return {
    type: name,
    message: scrub(shorten(message, CHARS_MAX)),
    ...(code !== undefined && { code: redact(code, depth + 1) }),
    ...(stack !== undefined && { stack: scrub(shorten(stack, CHARS_MAX)) }),
    ...(cause !== undefined && depth < DEPTH_MAX && { cause: redact(cause, depth + 1) }),
  };
}

export const shorten = (text: string, charsMax: number): string =>
  text.length > charsMax ? `${text.slice(0, charsMax)}… (${text.length} characters)` : text;
