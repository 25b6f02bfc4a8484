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
 * RFC 9112 §3 and §5, and less than that: no other verbs, only the origin form, only visible ASCII, no folded lines. What
 * is not like this is not wrong; it is left to who reads all of HTTP.
 */
const HEAD =
  /^(POST|GET|DELETE) (\/[!-~]{0,2000}) HTTP\/1\.1((?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}:[ \t]?[ -~]*)+)$/;

/** Headers that change how a request is read, or what happens to its connection; and what none of them may say twice. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...["transfer-encoding", "expect", "upgrade", "trailer", "te", "http2-settings"],
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
  const head = text === last?.text ? last : readHead(text, limits);
  const from = end + END.length;
  if (!head || from + head.length < bytes.length) return null;
  if (from + head.length === bytes.length) return { head, body: bytes.subarray(from) };
  return from + head.length <= limits.requestBytesMax ? "begun" : null;
}

function readHead(text: string, limits: PlainLimits): PlainHead | null {
  const parts = HEAD.exec(text);
  if (!parts) return null;
  const [, method, url, lines] = parts as unknown as [string, string, string, string];
  const headers = readHeaders(lines, limits.headersMax);
  if (!headers || headers.host === undefined) return null;
  const length = lengthOf(headers["content-length"]);
  return length === null ? null : { text, method, url, headers, length };
}

const END = "\r\n\r\n";

/** null: something in them is not plain. */
function readHeaders(lines: string, headersMax: number): IncomingHttpHeaders | null {
  const headers: Record<string, string> = {};
  let count = 0;
  for (let from = 2; from < lines.length; ) {
    const found = lines.indexOf("\r\n", from);
    const end = found === -1 ? lines.length : found;
    const colon = lines.indexOf(":", from);
    const name = lowerCase(lines.slice(from, colon));
    // Of two headers with one name, another reader may believe the other.
    if (SPECIAL.has(name) || Object.hasOwn(headers, name) || ++count > headersMax) return null;
    const value = lines.slice(colon + 1, end).trim();
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return null;
    headers[name] = value;
    from = end + 2;
  }
  return headers;
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

/** null: none that can be believed. */
function lengthOf(said: string | undefined): number | null {
  if (said === undefined) return 0;
  return /^\d{1,9}$/.test(said) ? Number(said) : null;
}
