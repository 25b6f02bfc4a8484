import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createMemoryTerminal } from "./memory-terminal.ts";
import { createOutput } from "./output.ts";

const terminalOf = (tty: boolean) =>
  createMemoryTerminal({ tty, answers: [], input: "", cwd: "/", fetch, now: () => 0 });

test("short waiting is not mentioned", async () => {
  const terminal = terminalOf(true);
  const output = createOutput(terminal, 50);
  output.startWaiting("waiting for echo");
  output.text("answer\n");
  await sleep(80);
  expect(terminal.written).toEqual({ out: "answer\n", err: "" });
});

test("long waiting turns a spinner on a terminal, which leaves no trace", async () => {
  const terminal = terminalOf(true);
  const output = createOutput(terminal, 10);
  output.startWaiting("waiting for echo");
  await expect.poll(() => terminal.written.err).toContain("⠙");
  output.text("answer\n");
  const said = terminal.written.err;
  expect(said.startsWith("\r\u001b[K⠋ waiting for echo 0 s\r\u001b[K⠙ ")).toBe(true);
  expect(said.endsWith("\r\u001b[K")).toBe(true);
  await sleep(150);
  expect(terminal.written.err).toBe(said);
});

test("what is waited for may change while it is waited for", async () => {
  const terminal = terminalOf(true);
  const output = createOutput(terminal, 10);
  let done = 0;
  output.startWaiting(() => `copied ${++done} of 9`);
  await expect.poll(() => terminal.written.err).toMatch(/copied 1 of 9 0 s.*copied 2 of 9 0 s/s);
  output.stopWaiting();
});

test("no spinner turns behind a half-written line", async () => {
  const terminal = terminalOf(true);
  const output = createOutput(terminal, 10);
  output.text("half a ");
  output.startWaiting("working");
  await sleep(50);
  output.end();
  expect(terminal.written).toEqual({ out: "half a \n", err: "" });
});

test("elsewhere long waiting is one line, once", async () => {
  const terminal = terminalOf(false);
  const output = createOutput(terminal, 10);
  for (let time = 0; time < 3; time++) {
    output.startWaiting("waiting for echo");
    await sleep(40);
    output.stopWaiting();
  }
  expect(terminal.written.err).toBe("waiting for echo\n");
});
