import type { IncomingHttpHeaders } from "node:http";

/** What stands before the body. */
export interface PlainHead {
  readonly text: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body. */
  readonly length: number;
}
/** A request of which everything is there. */
export interface PlainRequest {
  readonly head: PlainHead;
  readonly body: Buffer;
}

/**
 * RFC 9112 §3 and §5, and less than that: only these methods, only the origin form, only visible ASCII and spaces, no
 * folded lines, no tabs. A request that is not like this is not refused; Node's parser reads it.
 */
const METHODS = ["POST", "GET", "DELETE"] as const;
const URL_BYTES_MAX = 2_001;
const NAME_BYTES_MAX = 100;
const LENGTH_DIGITS_MAX = 9;

/** Headers that change how a request is read, or what happens to its connection. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...["transfer-encoding", "expect", "upgrade", "trailer", "te", "http2-settings", "proxy-connection"],
]);

export interface PlainLimits {
  readonly headersMax: number;
  readonly headBytesMax: number;
  /** Of one that does not come in one piece: larger ones are not gathered here. */
  readonly requestBytesMax: number;
}

/**
 * Reads a request that has arrived whole, is followed by nothing, and is as plain as most are; "begun": it may become one,
 * some of its body is still to come; null: another one must read it. `last`: the head of the one before it, which is often
 * the same.
 */
export function readPlain(
  bytes: Buffer,
  limits: PlainLimits,
  last?: PlainHead,
): PlainRequest | "begun" | null {
  const end = bytes.indexOf(END);
  if (end === -1 || end > limits.headBytesMax) return null;
  const text = bytes.toString("latin1", 0, end);
  const head = text === last?.text ? last : readHead(bytes, text, limits.headersMax);
  const from = end + END.length;
  if (!head || from + head.length < bytes.length) return null;
  if (from + head.length === bytes.length) return { head, body: bytes.subarray(from) };
  return from + head.length <= limits.requestBytesMax ? "begun" : null;
}

const END = "\r\n\r\n";
const VERSION = " HTTP/1.1\r\n";

/** `text`: the same bytes as characters, up to the end of the head. Every byte is looked at once, in order; null: not plain. */
function readHead(bytes: Buffer, text: string, headersMax: number): PlainHead | null {
  const method = METHODS.find(one => text.startsWith(one));
  if (method === undefined || !text.startsWith(" /", method.length)) return null;
  const from = method.length + 1;
  const to = skip(bytes, from, text.length, VISIBLE);
  if (to - from > URL_BYTES_MAX || !text.startsWith(VERSION, to)) return null;
  const headers = readHeaders(bytes, text, to + VERSION.length, headersMax);
  if (!headers || headers.host === undefined) return null;
  const length = lengthOf(headers["content-length"]);
  return length === null ? null : { text, method, url: text.slice(from, to), headers, length };
}

/** null: something in them is not plain. */
function readHeaders(
  bytes: Buffer,
  text: string,
  start: number,
  headersMax: number,
): IncomingHttpHeaders | null {
  const headers: Record<string, string> = {};
  const end = text.length;
  let at = start;
  for (let count = 1; ; count++) {
    const colon = skip(bytes, at, end, TOKEN);
    const size = colon - at;
    if (size === 0 || size > NAME_BYTES_MAX || bytes[colon] !== COLON || count > headersMax) return null;
    const name = lowerCase(text.slice(at, colon));
    // Two headers of one name are left to Node's parser: it joins them or refuses them.
    if (SPECIAL.has(name) || Object.hasOwn(headers, name)) return null;
    const from = skip(bytes, colon + 1, end, BLANK);
    const to = skip(bytes, from, end, VALUE);
    const value = text.slice(from, trimmed(bytes, from, to));
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return null;
    headers[name] = value;
    if (to === end) return headers;
    if (bytes[to] !== CR || bytes[to + 1] !== LF) return null;
    at = to + 2;
  }
}

const CR = 13;
const LF = 10;
const SPACE = 32;
const COLON = 58;

/** What a byte may be part of. */
const BLANK = 1;
const VALUE = 2;
const VISIBLE = 4;
const TOKEN = 8;
const DIGIT = 16;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < SPACE || byte > 126) return 0;
  if (byte === SPACE) return BLANK | VALUE;
  const isDigit = byte >= 48 && byte <= 57;
  const isLetter = (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
  const isToken = isDigit || isLetter || "!#$%&'*+.^_`|~-".includes(String.fromCharCode(byte));
  return VALUE | VISIBLE | (isToken ? TOKEN : 0) | (isDigit ? DIGIT : 0);
});

/** Where the first byte is, from `at` on, that is not of this kind; or `end`. */
function skip(bytes: Buffer, at: number, end: number, kind: number): number {
  let next = at;
  while (next < end && ((KINDS[bytes[next] as number] as number) & kind) !== 0) next++;
  return next;
}

/** The end of a value without the blanks after it. */
function trimmed(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && bytes[end - 1] === SPACE) end--;
  return end;
}

/** How most callers spell most names. */
const SPELLED = new Map(
  [
    ...["Host", "Content-Type", "Content-Length", "Connection", "Accept", "User-Agent", "Accept-Encoding"],
    ...["Accept-Language", "Authorization", "A2A-Version", "A2A-Extensions", "Idempotency-Key", "Origin"],
    ...["Last-Event-ID", "Sec-Fetch-Mode", "X-API-Key", "traceparent", "tracestate", "baggage"],
  ].flatMap(name => [
    [name, name.toLowerCase()],
    [name.toLowerCase(), name.toLowerCase()],
  ]),
);
const lowerCase = (name: string): string => SPELLED.get(name) ?? name.toLowerCase();

/** null: no length that is plain. */
function lengthOf(said: string | undefined): number | null {
  if (said === undefined) return 0;
  if (said === "" || said.length > LENGTH_DIGITS_MAX) return null;
  let length = 0;
  for (let at = 0; at < said.length; at++) {
    const code = said.charCodeAt(at);
    if (((KINDS[code] as number) & DIGIT) === 0) return null;
    length = length * 10 + code - 48;
  }
  return length;
}
