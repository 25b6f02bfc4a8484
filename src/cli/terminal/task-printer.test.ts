import { expect, test } from "vitest";
import type { StreamResponse, RemoteTask } from "../../client/types.ts";
import type { Artifact, Message, Part, TaskState } from "../../model/index.ts";
import { createMemoryTerminal } from "./memory-terminal.ts";
import { createOutput } from "./output.ts";
import { createTaskPrinter } from "./task-printer.ts";

const place = { taskId: "t", contextId: "c" };
const text = (said: string): Part => ({ kind: "text", text: said });
const message = (...parts: readonly Part[]): Message => ({ messageId: "m", role: "agent", parts });
const status = (state: TaskState, said?: string): StreamResponse => ({
  kind: "status",
  ...place,
  state,
  ...(said !== undefined && { message: message(text(said)) }),
});
const artifact = (
  id: string,
  parts: readonly Part[],
  more: Partial<Artifact> & { append?: boolean } = {},
): StreamResponse => {
  const { append = false, ...rest } = more;
  return { kind: "artifact", ...place, artifact: { artifactId: id, parts, ...rest }, append, last: false };
};
const task = (state: TaskState, more: Partial<RemoteTask> = {}): StreamResponse => ({
  kind: "task",
  task: { id: "t", contextId: "c", state, artifacts: [], history: [], ...more },
});

async function printed(items: readonly StreamResponse[], parts: { tty?: boolean; history?: boolean } = {}) {
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

test("text of one artifact is printed as it comes, with one newline at the end", async () => {
  const items = [artifact("a", [text("You ")]), artifact("a", [text("said")], { append: true })];
  expect(await printed(items)).toEqual({ out: "You said\n", err: "" });
});

test("a newline of the agent's own is not doubled", async () => {
  expect((await printed([artifact("a", [text("line\n")])])).out).toBe("line\n");
});

test("what is worked on goes to standard error and does not break a pipe's text", async () => {
  const items = [
    status("working", "reading"),
    artifact("a", [text("one ")]),
    status("working", "still\nreading"),
    artifact("a", [text("two")], { append: true }),
  ];
  expect(await printed(items)).toEqual({ out: "one two\n", err: "reading\nstill reading\n" });
});

test("on a terminal a remark begins on a line of its own", async () => {
  const items = [artifact("a", [text("one ")]), status("working", "reading"), artifact("b", [text("two")])];
  expect(await printed(items, { tty: true })).toEqual({ out: "one two\n", err: "\nreading\n" });
});

test("further artifacts begin on a new line, under their names", async () => {
  const items = [
    artifact("a", [text("summary")], { name: "summary" }),
    artifact("b", [{ kind: "data", data: { total: 1 } }], { name: "numbers" }),
    artifact("c", [{ kind: "bytes", bytes: "YWJj", filename: "a.csv", mediaType: "text/csv" }], {
      name: "table",
    }),
    artifact("d", [{ kind: "url", url: "https://x.example/f", filename: "f" }]),
  ];
  expect(await printed(items)).toEqual({
    out: 'summary\n{\n  "total": 1\n}\n[a.csv, text/csv, 3 bytes]\n[f, https://x.example/f]\n',
    err: "numbers\ntable\n",
  });
});

test("an artifact that is replaced is shown again, and that is said", async () => {
  const items = [
    artifact("a", [text("draft")], { name: "essay" }),
    artifact("a", [text("final")], { name: "essay" }),
  ];
  expect(await printed(items)).toEqual({ out: "draft\nfinal\n", err: "essay (replaced)\n" });
});

test("a message of a completed task is the answer only if there is no other", async () => {
  expect(await printed([status("completed", "42")])).toEqual({ out: "42\n", err: "" });
  const items = [artifact("a", [text("42")]), status("completed", "Done")];
  expect(await printed(items)).toEqual({ out: "42\n", err: "Done\n" });
});

test("a question is part of the answer, why a task failed is not", async () => {
  expect(await printed([status("input-required", "How many?")])).toEqual({ out: "How many?\n", err: "" });
  expect(await printed([status("auth-required", "Log in at …")])).toEqual({ out: "Log in at …\n", err: "" });
  expect(await printed([status("failed", "No")])).toEqual({ out: "", err: "No\n" });
  expect(await printed([status("rejected", "Never")])).toEqual({ out: "", err: "Never\n" });
});

test("a snapshot after a lost connection repeats nothing", async () => {
  const shown = { artifactId: "a", parts: [text("one two")] };
  const items = [
    status("working", "reading"),
    artifact("a", [text("one ")]),
    task("working", { artifacts: [shown], message: message(text("reading")) }),
    task("working", { artifacts: [shown], message: message(text("reading")) }),
  ];
  expect(await printed(items)).toEqual({ out: "one two\n", err: "reading\n" });
});

test("what was said before is shown once, where it was asked for", async () => {
  const history: Message[] = [
    { messageId: "u", role: "user", parts: [text("a\ntable"), { kind: "data", data: 2 }] },
  ];
  const items = [task("working", { history }), task("working", { history })];
  expect((await printed(items, { history: true })).err).toBe("user: a table 2\n");
  expect((await printed(items)).err).toBe("");
});

test("a bare message is printed whole", async () => {
  const items: StreamResponse[] = [{ kind: "message", message: message(text("hi"), { kind: "data", data: [1] }) }];
  expect((await printed(items)).out).toBe("hi\n[\n  1\n]\n");
});
