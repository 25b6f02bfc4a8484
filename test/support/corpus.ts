/**
 * The corpus: what goes over the wire, word for word, one story in each file of `test/corpus/<dialect>/`.
 *
 *     # What this shows, in one sentence: it is the name of the test.
 *     # Where it comes from: wire notes, the specification, a seed.
 *     @set versionPolicy strict            settings of the server, if they matter
 *     @cast echo asker                     only these agents, where a reply lists all of them
 *     POST /agents/echo                    the request: verb and path, headers, an empty line, the body
 *     A2A-Version: 1.0
 *
 *     {"jsonrpc":"2.0",…}
 *     ---
 *     { "op": "send", … }                  the operation that the dialect decoded; `-`: none
 *     ---
 *     200                                  the reply: status, headers, an empty line, body or frames
 *     Content-Type: application/json
 *
 *     {"jsonrpc":"2.0",…}
 *     ===                                  the next exchange of the story, with the same server
 *
 * A request is sent as it stands, with Host and Content-Length added. A reply is written down as it came, without the
 * headers of the connection itself. A stream ends with `(close)`. What differs from run to run has a name that holds
 * for the whole file and may be used in later requests: T1 a task, C1 a context, M1 a message of the agent, P1 a page
 * token, E1 an entity tag, R1 a reference into the log; TS1 is the time of the first request, TS2 of the second, …
 *
 * Lines that begin with @ tell what the caller does:
 *
 *     @hold after 2 frames                 before a request: reads two frames, then goes on elsewhere: `(held)`
 *     @leave after 2 frames                before a request: reads two frames and hangs up: `(left)`
 *     @go on                               instead of a request: agents that wait may go on, and the stream that is
 *                                          held is read to its end
 *
 * `UPDATE_CORPUS=1 npx vitest run test/corpus` writes operations and replies anew, to be reviewed like code.
 */

export interface Story {
  readonly sentence: string;
  /** All comment lines at the head but the first, without their marks. */
  readonly sources: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** The agents that are served; undefined: all of them. */
  readonly cast: readonly string[] | undefined;
  readonly scenes: readonly Scene[];
}

export interface Scene {
  /** As it stands in the file, comments and all. */
  readonly text: string;
  /** null: the story just goes on. */
  readonly request: WireRequest | null;
  /** What is done with a stream. */
  readonly reading: Reading;
}

export interface WireRequest {
  readonly verb: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export type Reading = { readonly how: "all" } | { readonly how: "hold" | "leave"; readonly frames: number };

/** What happened in a scene. */
export interface Outcome {
  readonly operation: string;
  readonly reply: string;
}

const NEXT = "\n===\n";
const PART = "\n---\n";

export function readStory(text: string): Story {
  const scenes = text.replace(/\n$/, "").split(NEXT).map(readScene);
  const head = (scenes[0] as Scene).text.split("\n");
  const comments = head.filter(line => line.startsWith("#")).map(line => line.slice(1).trim());
  return {
    sentence: comments[0] ?? "",
    sources: comments.slice(1).join(" "),
    cast: head
      .find(line => line.startsWith("@cast "))
      ?.split(" ")
      .slice(1),
    settings: Object.fromEntries(head.filter(line => line.startsWith("@set ")).map(readSetting)),
    scenes,
  };
}

function readSetting(line: string): [name: string, value: string | number | boolean] {
  const [, name = "", ...words] = line.split(" ");
  const value = words.join(" ");
  if (/^(true|false)$/.test(value)) return [name, value === "true"];
  return [name, /^\d+$/.test(value) ? Number(value) : value];
}

function readScene(text: string): Scene {
  const asked = (text.split(PART)[0] as string).replace(/\n$/, "");
  const lines = asked.split("\n");
  const first = lines.findIndex(line => !/^[#@]/.test(line));
  const told = first === -1 ? lines : lines.slice(0, first);
  const request = first === -1 ? null : readRequest(lines.slice(first));
  return { text: asked, request, reading: readReading(told) };
}

function readReading(lines: readonly string[]): Reading {
  for (const line of lines) {
    const found = /^@(hold|leave) after (\d+) frames?$/.exec(line);
    if (found) return { how: found[1] as "hold" | "leave", frames: Number(found[2]) };
    if (line.startsWith("@") && !/^@(set \w+ .+|cast .+|go on)$/.test(line))
      throw new Error(`nobody knows what ${line} means`);
  }
  return { how: "all" };
}

function readRequest(lines: readonly string[]): WireRequest {
  const [verb, path] = (lines[0] as string).split(" ");
  if (!verb || !path) throw new Error(`a request begins with a verb and a path, not with ${lines[0]}`);
  const blank = lines.indexOf("");
  const head = blank === -1 ? lines.slice(1) : lines.slice(1, blank);
  return { verb, path, headers: head.map(readHeader), body: lines.slice(1 + head.length + 1).join("\n") };
}

function readHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  if (colon === -1) throw new Error(`a header has a colon: ${line}`);
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}

/** A story with what happened in each of its scenes, as it stands in a file. */
export function writeStory(story: Story, outcomes: readonly Outcome[]): string {
  const scenes = story.scenes.map((scene, i) => {
    const { operation, reply } = outcomes[i] as Outcome;
    return [scene.text, operation, reply].join(PART);
  });
  return `${scenes.join(NEXT)}\n`;
}

const WIDTH = 110;

/** JSON for people: what fits on a line is one. */
export function writeJson(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value, null, 1)?.replace(/\n\s*/g, " ") ?? "null";
  if (typeof value !== "object" || value === null || indent.length + flat.length <= WIDTH - 20) return flat;
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map(one => writeJson(one, deeper))
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([name, one]) => `${JSON.stringify(name)}: ${writeJson(one, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${deeper}${lines.join(`,\n${deeper}`)}\n${indent}${close}`;
}

/** For people: JSON over several lines, so that a difference is seen where it is. */
export function spread(text: string): string {
  return text
    .split("\n")
    .map(line => {
      const found = /^(data: )?(\{.+)$/.exec(line);
      return found ? `${found[1] ?? ""}${pretty(found[2] as string)}` : line;
    })
    .join("\n");
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
