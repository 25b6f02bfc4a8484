import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createMemoryTerminal } from "./memory-terminal.ts";
import { createOutput } from "./output.ts";

const createTerminal = (tty: boolean) =>
  createMemoryTerminal({ tty, answers: [], input: "", cwd: "/", fetch, now: () => 0 });

test("a short wait is not shown", async () => {
  const terminal = createTerminal(true);
  const output = createOutput(terminal, 50);
  output.startWaiting("waiting for echo");
  output.text("answer\n");
  await sleep(80);
  expect(terminal.written).toEqual({ out: "answer\n", err: "" });
});

test("a long wait shows a spinner on a terminal, which is erased", async () => {
  const terminal = createTerminal(true);
  const output = createOutput(terminal, 10);
  output.startWaiting("waiting for echo");
  await expect.poll(() => terminal.written.err).toContain("⠙");
  output.text("answer\n");
  const err = terminal.written.err;
  expect(err.startsWith("\r\u001b[K⠋ waiting for echo 0 s\r\u001b[K⠙ ")).toBe(true);
  expect(err.endsWith("\r\u001b[K")).toBe(true);
  await sleep(150);
  expect(terminal.written.err).toBe(err);
});

test("the text of a wait may change", async () => {
  const terminal = createTerminal(true);
  const output = createOutput(terminal, 10);
  let done = 0;
  output.startWaiting(() => `copied ${++done} of 9`);
  await expect.poll(() => terminal.written.err).toMatch(/copied 1 of 9 0 s.*copied 2 of 9 0 s/s);
  output.stopWaiting();
});

test("no spinner is shown on an unfinished line", async () => {
  const terminal = createTerminal(true);
  const output = createOutput(terminal, 10);
  output.text("half a ");
  output.startWaiting("working");
  await sleep(50);
  output.end();
  expect(terminal.written).toEqual({ out: "half a \n", err: "" });
});

test("without a terminal a long wait is one line, once", async () => {
  const terminal = createTerminal(false);
  const output = createOutput(terminal, 10);
  for (let time = 0; time < 3; time++) {
    output.startWaiting("waiting for echo");
    await sleep(40);
    output.stopWaiting();
  }
  expect(terminal.written.err).toBe("waiting for echo\n");
});
