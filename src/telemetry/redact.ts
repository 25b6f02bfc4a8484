/** Redacts secrets from logs and traces, by member name and by pattern. */
import { types } from "node:util";

const GONE = "[redacted]";

/** Names of members whose values are redacted. `sealing` and `jwk` are the keys of a server. */
const SECRET_NAME =
  /authorization|cookie|password|passwd|passphrase|secret|token(?!s)|api[-_]?key|credential|private[-_]?key|verifier|assertion|^(?:jwk|sealing)$/i;

type Look = readonly [
  look: RegExp,
  instead: string | ((found: string, before: string, value: string) => string),
];

/** Words that follow "Basic" and "Bearer" in sentences. */
const WORDS =
  "(?:auth|token|cred|cert|config|function|inform|require|support|understand|knowledge|challenge|principle)[a-z]*";
const opening = (value: string): string => /^\\?["']/.exec(value)?.[0] ?? "";

/**
 * Texts come from callers too, so every pattern takes linear time: no pattern has two repetitions that match the same
 * characters, and none starts again inside of what an earlier attempt has consumed.
 */
const LOOKS: readonly Look[] = [
  // Headers by scheme and by name. User info in URLs is handled below.
  [
    new RegExp(
      `\\b(Bearer|Basic|DPoP|Negotiate)\\s+(?!${WORDS}(?:[\\s,;:!?)"']|\\.\\s|\\.?$))[\\w.~+/=-]{8,}`,
      "gi",
    ),
    `$1 ${GONE}`,
  ],
  [
    /(authorization\\?["']?\s*[=:]\s*\\?["']?(?:(?:Bearer|Basic|DPoP|Negotiate|Digest|Token|ApiKey)\s+)?)(?!required|optional|missing)[^\s"',;\\]{6,}/gi,
    `$1${GONE}`,
  ],
  [/(cookie\\?["']?\s*[=:]\s*\\?["']?)[^\r\n"'\\]{4,}/gi, `$1${GONE}`],
  // Members of objects, forms and connection strings.
  [
    /((?:api[-_]?key|passw(?:or)?d|passphrase|secret|token|credentials?|verifier|assertion)\\?["']?\s*[=:]\s*)(\\?"[^"\\]{4,}|'[^']{4,}|[^\s"',;&}]{4,})/gi,
    (_, before, value) => before + opening(value) + GONE,
  ],
  // Authorization codes (RFC 6749 §4.1.2) and the links that lead to them.
  [/([?&](?:code|state|ask|sig|signature)=)[^\s&"'#]{6,}/gi, `$1${GONE}`],
  // Tokens and API keys by prefix; private keys in PEM form and as JSON Web Keys.
  [/(?:drg_|whsec_)[\w+/=-]{8,}/g, GONE],
  [
    /\b(?:sk-|sk_live_|sk_test_|gh[opsur]_|github_pat_|glpat-|gsk_|hf_|lsv2_|xox[abeprs]-|AIza)[\w-]{16,}/g,
    GONE,
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*/g, `-----BEGIN PRIVATE KEY-----${GONE}`],
  [/(\\?"(?:d|k|key)\\?"\s*:\s*\\?")[\w+/=-]{32,}/g, `$1${GONE}`],
  [/(?<!\w)eyJ[\w.-]{20,}/g, found => (found.includes(".") ? GONE : found)],
];

/** A text with secrets replaced. */
export function scrub(text: string): string {
  let scrubbed = text.includes("://") ? text.replace(/[^\s"'<>`]+/g, scrubUrls) : text;
  for (const [look, instead] of LOOKS) scrubbed = scrubbed.replace(look, instead as string);
  return scrubbed;
}

/** Schemes of databases and brokers: passwords may contain slashes, and a user may be a token. */
const STORES = /(?:postgres(?:ql)?|nats|rediss?|amqps?|mysql|mongodb|srv)$/i;
const STORE_CHARS_MAX = 10;
/** A user without a password that is this long is a token. */
const USER_CHARS_MAX = 20;

/** `word` has no spaces and may contain several URLs. */
function scrubUrls(word: string): string {
  let made = "";
  let from = 0;
  const last = word.lastIndexOf("@");
  for (let at = word.indexOf("://"); at !== -1; at = word.indexOf("://", at + 3)) {
    const isStore = STORES.test(word.slice(Math.max(from, at - STORE_CHARS_MAX), at));
    const end = isStore ? last : at + 3 + userLength(word, at + 3);
    if (end < at + 3 || (!isStore && !isSecretUser(word.slice(at + 3, end)))) continue;
    made += `${word.slice(from, at + 3)}${GONE}`;
    from = end;
    at = Math.max(at, end - 3);
  }
  return made + word.slice(from);
}

/** The last @ before the path; -1: there is no user info. */
function userLength(word: string, at: number): number {
  let length = -1;
  for (let i = at; i < word.length && !"/?#".includes(word[i] as string); i++)
    if (word[i] === "@") length = i - at;
  return length;
}

const isSecretUser = (user: string): boolean => user.includes(":") || user.length >= USER_CHARS_MAX;

/** Nesting of objects in a log line. */
const DEPTH_MAX = 6;
/** Members or entries of one object. */
const MEMBERS_MAX = 100;
/** Characters of one text; a stack with its causes fits. */
const CHARS_MAX = 16_384;

/** Characters of all texts in one line: objects that refer to each other have exponentially many paths. */
const LINE_CHARS_MAX = 256 * 1024;
/** Added per value beside its text. */
const VALUE_CHARS = 8;
const LEFT_OUT = "…";

/** The remaining characters. */
interface CharBudget {
  left: number;
}

/** A bounded copy without secrets. */
export function redact(value: unknown, depth = 0, room: CharBudget = { left: LINE_CHARS_MAX }): unknown {
  if (room.left <= 0) return LEFT_OUT;
  room.left -= VALUE_CHARS;
  if (typeof value === "string") return redactText(value, room);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error || types.isNativeError(value)) return redactError(value, depth, room);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return redact(value.toJSON(), depth + 1, room);
  if (depth >= DEPTH_MAX) return Array.isArray(value) ? "[…]" : "{…}";
  if (Array.isArray(value))
    return value.slice(0, MEMBERS_MAX).map((one, i) => redactEntry(value, one, i, depth, room));
  const members = Object.entries(value).slice(0, MEMBERS_MAX);
  const { name } = value as { readonly name?: unknown };
  return Object.fromEntries(
    members.map(([member, one]) => {
      const called = member === "value" && typeof name === "string" ? name : member;
      return [redactText(member, room), isSecret(called, one) ? GONE : redact(one, depth + 1, room)];
    }),
  );
}

function redactText(text: string, room: CharBudget): string {
  const short = shorten(text, Math.min(CHARS_MAX, Math.max(room.left, 1)));
  room.left -= short.length;
  return scrub(short);
}

/** Raw headers are lists: name, value, name, value. */
function redactEntry(
  list: readonly unknown[],
  one: unknown,
  i: number,
  depth: number,
  room: CharBudget,
): unknown {
  const before = list[i - 1];
  const isValue = typeof one === "string" && typeof before === "string" && /^[\w-]{1,40}$/.test(before);
  return isValue && isSecret(before, one) ? GONE : redact(one, depth + 1, room);
}

const KEY_CHARS = /^[\w+/=-]{32,}$/;

function isSecret(name: string, value: unknown): boolean {
  if (!value || typeof value === "boolean") return false;
  if (SECRET_NAME.test(name)) return true;
  return /^(?:d|k|key)$/.test(name) && typeof value === "string" && KEY_CHARS.test(value);
}

/** Logged errors of one AggregateError. */
const ERRORS_MAX = 5;
/** Classes whose name says less than the `name` of the error. */
const PLAIN: ReadonlySet<unknown> = new Set([undefined, "", "Error", "DOMException", "Object"]);

/** Libraries attach whole requests with headers to their errors: only message, stack, code and causes are kept. */
function redactError(error: Error, depth: number, room: CharBudget): object {
  const { message, stack, cause, code, errors } = error as Error & { code?: unknown; errors?: unknown };
  const inner = depth < DEPTH_MAX;
  return {
    type: classOf(error),
    message: toText(message, room),
    ...(code !== undefined && { code: redact(code, depth + 1, room) }),
    ...(stack !== undefined && { stack: toText(stack, room) }),
    ...(cause !== undefined && inner && { cause: redact(cause, depth + 1, room) }),
    // An AggregateError may contain others of its kind.
    ...(Array.isArray(errors) &&
      inner && { errors: errors.slice(0, ERRORS_MAX).map(one => redact(one, depth + 2, room)) }),
  };
}

/** The name of the class; of a plain Error, its own `name`. */
function classOf(error: Error): string {
  const made: unknown = (error.constructor as { readonly name?: unknown } | undefined)?.name;
  return typeof made === "string" && !PLAIN.has(made)
    ? made
    : toText(error.name || "Error", { left: CHARS_MAX });
}

/** Members of an error can be anything. */
const toText = (value: unknown, room: CharBudget): string => {
  const text = redact(value, 0, room);
  return typeof text === "string" ? text : (JSON.stringify(text) ?? String(text));
};

export const shorten = (text: string, charsMax: number): string =>
  text.length > charsMax ? `${text.slice(0, charsMax)}… (${text.length} characters)` : text;
