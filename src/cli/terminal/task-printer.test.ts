import { expect, test } from "vitest";
import type { RemoteTask, StreamResponse } from "../../client/types.ts";
import type { Artifact, Message, Part, TaskState } from "../../model/index.ts";
import { createMemoryTerminal } from "./memory-terminal.ts";
import { createOutput } from "./output.ts";
import { createTaskPrinter } from "./task-printer.ts";

const ids = { taskId: "t", contextId: "c" };
const text = (value: string): Part => ({ kind: "text", text: value });
const message = (...parts: readonly Part[]): Message => ({ messageId: "m", role: "agent", parts });
const status = (state: TaskState, words?: string): StreamResponse => ({
  kind: "status",
  ...ids,
  state,
  ...(words !== undefined && { message: message(text(words)) }),
});
const artifact = (
  id: string,
  parts: readonly Part[],
  more: Partial<Artifact> & { append?: boolean } = {},
): StreamResponse => {
  const { append = false, ...rest } = more;
  return { kind: "artifact", ...ids, artifact: { artifactId: id, parts, ...rest }, append, last: false };
};
const task = (state: TaskState, more: Partial<RemoteTask> = {}): StreamResponse => ({
  kind: "task",
  task: { id: "t", contextId: "c", state, artifacts: [], history: [], ...more },
});

async function print(items: readonly StreamResponse[], parts: { tty?: boolean; history?: boolean } = {}) {
  const terminal = createMemoryTerminal({
    tty: parts.tty === true,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  const output = createOutput(terminal, 60_000);
  const printer = createTaskPrinter({ output, saveFolder: undefined, history: parts.history === true });
  for (const item of items) await printer.show(item);
  output.end();
  return terminal.written;
}

test("the text of one artifact is printed as it arrives, with one newline at the end", async () => {
  const items = [artifact("a", [text("You ")]), artifact("a", [text("said")], { append: true })];
  expect(await print(items)).toEqual({ out: "You said\n", err: "" });
});

test("a newline at the end of the agent's text is not doubled", async () => {
  expect((await print([artifact("a", [text("line\n")])])).out).toBe("line\n");
});

test("progress goes to standard error and does not break the text in a pipe", async () => {
  const items = [
    status("working", "reading"),
    artifact("a", [text("one ")]),
    status("working", "still\nreading"),
    artifact("a", [text("two")], { append: true }),
  ];
  expect(await print(items)).toEqual({ out: "one two\n", err: "reading\nstill reading\n" });
});

test("on a terminal a note begins on a new line", async () => {
  const items = [artifact("a", [text("one ")]), status("working", "reading"), artifact("b", [text("two")])];
  expect(await print(items, { tty: true })).toEqual({ out: "one two\n", err: "\nreading\n" });
});

test("further artifacts begin on a new line, after their names", async () => {
  const items = [
    artifact("a", [text("summary")], { name: "summary" }),
    artifact("b", [{ kind: "data", data: { total: 1 } }], { name: "numbers" }),
    artifact("c", [{ kind: "bytes", bytes: "YWJj", filename: "a.csv", mediaType: "text/csv" }], {
      name: "table",
    }),
    artifact("d", [{ kind: "url", url: "https://x.example/f", filename: "f" }]),
  ];
  expect(await print(items)).toEqual({
    out: 'summary\n{\n  "total": 1\n}\n[a.csv, text/csv, 3 bytes]\n[f, https://x.example/f]\n',
    err: "numbers\ntable\n",
  });
});

test("a replaced artifact is printed again, with a note", async () => {
  const items = [
    artifact("a", [text("draft")], { name: "essay" }),
    artifact("a", [text("final")], { name: "essay" }),
  ];
  expect(await print(items)).toEqual({ out: "draft\nfinal\n", err: "essay (replaced)\n" });
});

test("the message of a completed task is the response only if there is no artifact", async () => {
  expect(await print([status("completed", "42")])).toEqual({ out: "42\n", err: "" });
  const items = [artifact("a", [text("42")]), status("completed", "Done")];
  expect(await print(items)).toEqual({ out: "42\n", err: "Done\n" });
});

test("a question goes to standard output, the reason of a failure to standard error", async () => {
  expect(await print([status("input-required", "How many?")])).toEqual({ out: "How many?\n", err: "" });
  expect(await print([status("auth-required", "Log in at …")])).toEqual({ out: "Log in at …\n", err: "" });
  expect(await print([status("failed", "No")])).toEqual({ out: "", err: "No\n" });
  expect(await print([status("rejected", "Never")])).toEqual({ out: "", err: "Never\n" });
});

test("a snapshot after a lost connection is not printed again", async () => {
  const shown = { artifactId: "a", parts: [text("one two")] };
  const items = [
    status("working", "reading"),
    artifact("a", [text("one ")]),
    task("working", { artifacts: [shown], message: message(text("reading")) }),
    task("working", { artifacts: [shown], message: message(text("reading")) }),
  ];
  expect(await print(items)).toEqual({ out: "one two\n", err: "reading\n" });
});

test("earlier messages are printed once, if requested", async () => {
  const history: Message[] = [
    { messageId: "u", role: "user", parts: [text("a\ntable"), { kind: "data", data: 2 }] },
  ];
  const items = [task("working", { history }), task("working", { history })];
  expect((await print(items, { history: true })).err).toBe("user: a table 2\n");
  expect((await print(items)).err).toBe("");
});

test("a message without a task is printed whole", async () => {
  const items: StreamResponse[] = [
    { kind: "message", message: message(text("hi"), { kind: "data", data: [1] }) },
  ];
  expect((await print(items)).out).toBe("hi\n[\n  1\n]\n");
});

test("a last message that repeats the response is not printed", async () => {
  const items = [
    artifact("a", [text("four")]),
    artifact("a", [text("ty-two")], { append: true }),
    status("completed", "fourty-two"),
  ];
  expect(await print(items)).toEqual({ out: "fourty-two\n", err: "" });
});
