import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Artifact, type Message, type Part, textOf } from "../model/index.ts";
import { type AgentUpdate, dedupe } from "./dedupe.ts";
import { ReplayFilter } from "./skip-replayed.ts";
import type { ReceivedResponse, RemoteState, StreamResponse } from "./types.ts";

const place = { taskId: "t", contextId: "c" };
const message = (text: string, messageId = text): Message => ({
  messageId,
  role: "agent",
  parts: [{ kind: "text", text }],
});
const chunk = (text: string, append = true): StreamResponse => ({
  kind: "artifact",
  ...place,
  artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
  append,
  last: false,
});
const status = (state: RemoteState, said?: Message): StreamResponse => ({
  kind: "status",
  ...place,
  state,
  ...(said && { message: said }),
});
const task = (state: RemoteState, artifacts: readonly Artifact[] = [], said?: Message): StreamResponse => ({
  kind: "task",
  task: { id: "t", contextId: "c", state, artifacts, history: [], ...(said && { message: said }) },
});
const whole = (...parts: readonly Part[]): readonly Artifact[] => [{ artifactId: "a", name: "n", parts }];
const text = (said: string): Part => ({ kind: "text", text: said });

async function* played(items: readonly StreamResponse[]): AsyncGenerator<ReceivedResponse> {
  for (const item of items) yield { item, raw: null };
}
const heardIn = (items: readonly StreamResponse[], repeatsText = false): Promise<AgentUpdate[]> =>
  Array.fromAsync(dedupe(played(items), repeatsText ? { repeatsText } : {}));
const short = (heard: readonly AgentUpdate[]): readonly string[] =>
  heard.map(one => {
    if (one.kind === "artifact") return `${one.append ? "+" : "="}${textOf(one.artifact.parts)}`;
    const words = one.message ? ` ${textOf(one.message.parts)}` : "";
    return one.kind === "status" ? `status${words}` : `${one.state}${words}`;
  });

describe("updates", () => {
  test("contain appended text as it arrives, and end with the final update", async () => {
    const items = [
      task("working"),
      chunk("a", false),
      status("working", message("so")),
      chunk("b"),
      status("completed"),
    ];
    expect(short(await heardIn(items))).toEqual(["=a", "status so", "+b", "completed"]);
  });

  test("contain only the new parts of a snapshot, with adjacent texts joined", async () => {
    const items = [
      chunk("a", false),
      task("working", whole(text("a"), text("b"), text("c"))),
      chunk("d"),
      task("completed", whole(text("abcd"))),
    ];
    expect(short(await heardIn(items))).toEqual(["=a", "+bc", "+d", "completed"]);
    const first = await heardIn([task("working", whole(text("a"), text("b")))]);
    expect(first[0]).toMatchObject({ artifact: { name: "n", parts: [text("ab")] }, append: false });
  });

  test("contain a replaced artifact whole", async () => {
    const items = [chunk("abc", false), task("completed", whole(text("other")))];
    expect(short(await heardIn(items))).toEqual(["=abc", "=other", "completed"]);
  });

  test("contain a repeated message once", async () => {
    const items = [
      status("working", message("so")),
      task("working", [], message("so")),
      status("working", message("then")),
    ];
    expect(short(await heardIn(items)).slice(0, -1)).toEqual(["status so", "status then"]);
  });

  test("do not end with an earlier question", async () => {
    const items = [task("input-required", [], message("Which?")), status("working"), status("completed")];
    expect(short(await heardIn(items))).toEqual(["completed"]);
    expect(short(await heardIn([status("input-required", message("Which?"))]))).toEqual([
      "input-required Which?",
    ]);
  });

  test("end with a message response; a repetition of the artifacts at the end is left out where the dialect has it", async () => {
    expect(await heardIn([{ kind: "message", message: message("hi") }])).toEqual([
      { kind: "end", state: "completed", message: message("hi"), replied: true },
    ]);
    const twice = [chunk("ab", false), status("completed", message("ab"))];
    expect(short(await heardIn(twice, true))).toEqual(["=ab", "completed"]);
    expect(short(await heardIn(twice))).toEqual(["=ab", "completed ab"]);
  });
});

test("replayed content is skipped, wherever the stream was interrupted", async () => {
  const pieces = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.array(fc.nat(10), { maxLength: 4 }), async (texts, breaks) => {
      const log = texts.map((one, i) => chunk(one, i > 0));
      const replay = new ReplayFilter();
      const told: StreamResponse[] = [];
      for (const length of [...breaks, log.length]) {
        replay.begin();
        for (const item of log.slice(0, length)) {
          const rest = replay.take(item);
          if (rest) told.push(rest);
        }
      }
      const heard = await heardIn(told);
      const said = heard.reduce(
        (all, one) => (one.kind === "artifact" ? (one.append ? all : "") + textOf(one.artifact.parts) : all),
        "",
      );
      expect(said).toBe(texts.join(""));
    }),
  );
});
