import { ClientError } from "./errors.ts";

export interface SseEvent {
  /** The last id in the stream so far. */
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** Parses a `text/event-stream` body by the rules of the HTML standard (§9.2.6); chunks may end anywhere. */
export async function* readSse(
  chunks: AsyncIterable<Uint8Array>,
  eventCharsMax: number,
): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  const lines = createLineSplitter();
  const events = createEventParser();
  for await (const chunk of chunks) {
    for (const line of lines.take(decoder.decode(chunk, { stream: true }))) {
      const event = events.take(line);
      if (event) yield event;
    }
    if (lines.pendingChars() + events.pendingChars() > eventCharsMax) throw tooLong(eventCharsMax);
  }
  // An event without its blank line is incomplete: the standard discards it, and a resumed stream repeats it.
}

const tooLong = (max: number) => new ClientError(`The agent sent an event of more than ${max} characters`);

/** Splits text at CR, LF and CRLF; a CRLF may be split between two chunks. */
function createLineSplitter() {
  let rest = "";
  let afterCr = false;
  return {
    pendingChars: () => rest.length,
    take(chunk: string): readonly string[] {
      if (chunk === "") return [];
      const text = afterCr && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
      afterCr = text.endsWith("\r");
      // Mastra's server ends each event with U+001E, which JSON never contains.
      const lines = text.replaceAll("\u001e", "\n\n").split(/\r\n|\r|\n/);
      lines[0] = rest + lines[0];
      rest = lines.pop() as string;
      return lines;
    },
  };
}

/** Collects fields; a blank line completes an event. */
function createEventParser() {
  let id: string | undefined;
  let event = "";
  let data: string | undefined;
  const flush = (): SseEvent | null => {
    const done =
      data === undefined ? null : { ...(id !== undefined && { id }), event: event || "message", data };
    event = "";
    data = undefined;
    return done;
  };
  return {
    pendingChars: () => data?.length ?? 0,
    take(line: string): SseEvent | null {
      if (line === "") return flush();
      // Mastra's server sends bare JSON: no field of the standard begins with a brace.
      const [name, value] = line.startsWith("{") ? ["data", line] : parseField(line);
      if (name === "data") data = data === undefined ? value : `${data}\n${value}`;
      else if (name === "event") event = value;
      else if (name === "id" && !value.includes("\0")) id = value;
      return null;
    },
  };
}

/** A line that begins with a colon is a comment and has an empty field name. One space after the colon is not content. */
function parseField(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)];
}
