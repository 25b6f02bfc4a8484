/**
 * The corpus: requests and responses as they go over the wire, one scenario in each file of `test/corpus/<dialect>/`.
 *
 *     # What the file shows, in one sentence: the name of the test.
 *     # Where it comes from: docs/dialects, the specification, a vendor's document.
 *     @set versionPolicy strict            options of the server
 *     @agents echo asker                   serve only these agents, where a response lists all of them
 *     POST /agents/echo                    the request: method and path, headers, an empty line, the body
 *     A2A-Version: 1.0
 *
 *     {"jsonrpc":"2.0",…}
 *     ---
 *     200                                  the response: status, headers, an empty line, body or SSE frames
 *     Content-Type: application/json
 *
 *     {"jsonrpc":"2.0",…}
 *     ===                                  the next exchange, with the same server
 *
 * A request is sent as it stands, with Host and Content-Length added. A response is recorded as it came, without the
 * headers of the connection. A stream ends with `(close)`. Values that differ from run to run have a name that holds for
 * the whole file and may be used in later requests: T1 a task, C1 a context, M1 a message of the agent, P1 a page token,
 * E1 an entity tag, R1 a reference into the log; TS1 is the time of the first request, TS2 of the second, …
 *
 * Lines that begin with @ control the client:
 *
 *     @pause after 2 frames                before a request: read two frames, keep the stream open: `(paused)`
 *     @disconnect after 2 frames           before a request: read two frames and close the connection: `(disconnected)`
 *     @resume                              instead of a request: waiting agents continue, and the paused stream is read
 *                                          to its end
 *
 * `UPDATE_CORPUS=1 npx vitest run test/corpus` records the responses again, to be reviewed like code.
 */

export interface ExchangeFile {
  readonly sentence: string;
  /** All comment lines at the head except the first, without their marks. */
  readonly sources: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** The agents that are served; undefined: all of them. */
  readonly agents: readonly string[] | undefined;
  readonly exchanges: readonly Exchange[];
}

export interface Exchange {
  /** The request as it stands in the file, with comments and directives. */
  readonly text: string;
  /** null: `@resume`. */
  readonly request: WireRequest | null;
  readonly reading: StreamReading;
}

export interface WireRequest {
  readonly verb: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** How far the client reads a stream. */
export type StreamReading =
  | { readonly until: "end" }
  | { readonly until: "pause" | "disconnect"; readonly frames: number };

const NEXT_EXCHANGE = "\n===\n";
const RESPONSE = "\n---\n";

export function parseExchangeFile(text: string): ExchangeFile {
  const exchanges = text.replace(/\n$/, "").split(NEXT_EXCHANGE).map(parseExchange);
  const head = (exchanges[0] as Exchange).text.split("\n");
  const comments = head.filter(line => line.startsWith("#")).map(line => line.slice(1).trim());
  return {
    sentence: comments[0] ?? "",
    sources: comments.slice(1).join(" "),
    agents: head
      .find(line => line.startsWith("@agents "))
      ?.split(" ")
      .slice(1),
    settings: Object.fromEntries(head.filter(line => line.startsWith("@set ")).map(parseSetting)),
    exchanges,
  };
}

function parseSetting(line: string): [name: string, value: string | number | boolean] {
  const [, name = "", ...words] = line.split(" ");
  const value = words.join(" ");
  if (/^(true|false)$/.test(value)) return [name, value === "true"];
  return [name, /^\d+$/.test(value) ? Number(value) : value];
}

function parseExchange(exchange: string): Exchange {
  const text = (exchange.split(RESPONSE)[0] as string).replace(/\n$/, "");
  const lines = text.split("\n");
  const first = lines.findIndex(line => !/^[#@]/.test(line));
  const request = first === -1 ? null : parseRequest(lines.slice(first));
  return { text, request, reading: parseReading(first === -1 ? lines : lines.slice(0, first)) };
}

function parseReading(lines: readonly string[]): StreamReading {
  for (const line of lines) {
    const found = /^@(pause|disconnect) after (\d+) frames?$/.exec(line);
    if (found) return { until: found[1] as "pause" | "disconnect", frames: Number(found[2]) };
    if (line.startsWith("@") && !/^@(set \w+ .+|agents .+|resume)$/.test(line))
      throw new Error(`Unknown directive: ${line}`);
  }
  return { until: "end" };
}

function parseRequest(lines: readonly string[]): WireRequest {
  const [verb, path] = (lines[0] as string).split(" ");
  if (!verb || !path) throw new Error(`A request must begin with a method and a path: ${lines[0]}`);
  const blank = lines.indexOf("");
  const head = blank === -1 ? lines.slice(1) : lines.slice(1, blank);
  return { verb, path, headers: head.map(parseHeader), body: lines.slice(1 + head.length + 1).join("\n") };
}

function parseHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  if (colon === -1) throw new Error(`A header must have a colon: ${line}`);
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}

/** The text of the file with these responses. */
export function formatExchangeFile(file: ExchangeFile, responses: readonly string[]): string {
  const exchanges = file.exchanges.map(({ text }, i) => `${text}${RESPONSE}${responses[i]}`);
  return `${exchanges.join(NEXT_EXCHANGE)}\n`;
}

/** JSON over several lines, so that a test failure shows the difference where it is. */
export function expandJson(text: string): string {
  return text
    .split("\n")
    .map(line => {
      const found = /^(data: )?(\{.+)$/.exec(line);
      return found ? `${found[1] ?? ""}${indentJson(found[2] as string)}` : line;
    })
    .join("\n");
}

function indentJson(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
