import type { IncomingHttpHeaders } from "node:http";

/** Request line and headers. */
export interface RequestHead {
  readonly text: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body. */
  readonly length: number;
}
/** A complete request. */
export interface ParsedRequest {
  readonly head: RequestHead;
  readonly body: Buffer;
}

/**
 * RFC 9112 §3 and §5, and less than that: only these methods, only the origin form, only visible ASCII and spaces, no
 * folded lines, no tabs. Any other request is not refused; Node's parser reads it.
 */
const METHODS = ["POST", "GET", "DELETE"] as const;
const URL_BYTES_MAX = 2_001;
const NAME_BYTES_MAX = 100;
const LENGTH_DIGITS_MAX = 9;

/** Headers that change how a request is parsed, or what happens to its connection. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...["transfer-encoding", "expect", "upgrade", "trailer", "te", "http2-settings", "proxy-connection"],
]);

export interface ParseLimits {
  readonly headersMax: number;
  readonly headBytesMax: number;
  /** Of a request that arrives in several pieces. */
  readonly requestBytesMax: number;
}

/**
 * Parses a plain request that is complete and followed by nothing. "incomplete": a part of the body is missing; null: not
 * plain, Node's parser must read it. `last`: the head of the request before it, which is often the same.
 */
export function parseRequest(
  bytes: Buffer,
  limits: ParseLimits,
  last?: RequestHead,
): ParsedRequest | "incomplete" | null {
  const end = bytes.indexOf(END);
  if (end === -1 || end > limits.headBytesMax) return null;
  const text = bytes.toString("latin1", 0, end);
  const head = text === last?.text ? last : parseHead(bytes, text, limits.headersMax);
  const from = end + END.length;
  if (!head || from + head.length < bytes.length) return null;
  if (from + head.length === bytes.length) return { head, body: bytes.subarray(from) };
  return from + head.length <= limits.requestBytesMax ? "incomplete" : null;
}

const END = "\r\n\r\n";
const VERSION = " HTTP/1.1\r\n";

/** `text`: the same bytes as characters, up to the end of the head. Every byte is read once, in order. null: not plain. */
function parseHead(bytes: Buffer, text: string, headersMax: number): RequestHead | null {
  const method = METHODS.find(name => text.startsWith(name));
  if (method === undefined || !text.startsWith(" /", method.length)) return null;
  const from = method.length + 1;
  const to = skip(bytes, from, text.length, VISIBLE);
  if (to - from > URL_BYTES_MAX || !text.startsWith(VERSION, to)) return null;
  const headers = parseHeaders(bytes, text, to + VERSION.length, headersMax);
  if (!headers || headers.host === undefined) return null;
  const length = parseLength(headers["content-length"]);
  return length === null ? null : { text, method, url: text.slice(from, to), headers, length };
}

/** null: not plain. */
function parseHeaders(
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

/** What a byte may be part of, as bits. */
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

/** The index of the first byte from `at` on that is not of this kind; or `end`. */
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

/** The usual spellings of header names: a lookup is faster than `toLowerCase`. */
const LOWER_CASE = new Map(
  [
    ...["Host", "Content-Type", "Content-Length", "Connection", "Accept", "User-Agent", "Accept-Encoding"],
    ...["Accept-Language", "Authorization", "A2A-Version", "A2A-Extensions", "Idempotency-Key", "Origin"],
    ...["Last-Event-ID", "Sec-Fetch-Mode", "X-API-Key", "traceparent", "tracestate", "baggage"],
  ].flatMap(name => [
    [name, name.toLowerCase()],
    [name.toLowerCase(), name.toLowerCase()],
  ]),
);
const lowerCase = (name: string): string => LOWER_CASE.get(name) ?? name.toLowerCase();

/** The Content-Length; null: not plain. */
function parseLength(text: string | undefined): number | null {
  if (text === undefined) return 0;
  if (text === "" || text.length > LENGTH_DIGITS_MAX) return null;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (((KINDS[code] as number) & DIGIT) === 0) return null;
    length = length * 10 + code - 48;
  }
  return length;
}
