import { expect, test } from "vitest";
import { createMemoryTerminal } from "../terminal/memory-terminal.ts";
import { untilStopped } from "./stop.ts";

function stopped(stop: () => Promise<void>) {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  const said: string[] = [];
  const code = untilStopped({ terminal, stop, onStopping: () => said.push("stopping") });
  return { terminal, said, code };
}

test.each(["SIGTERM", "SIGINT"] as const)("%s stops in order, with exit code 0", async signal => {
  const { terminal, said, code } = stopped(async () => undefined);
  terminal.sendSignal(signal);
  expect(await code).toBe(0);
  expect(said).toEqual(["stopping"]);
});

test("a second signal does not wait", async () => {
  const { terminal, said, code } = stopped(() => new Promise(() => undefined));
  terminal.sendSignal("SIGTERM");
  terminal.sendSignal("SIGINT");
  expect(await code).toBe(130);
  expect(said).toEqual(["stopping"]);
});

test("a stop that fails is an error", async () => {
  const { terminal, code } = stopped(async () => {
    throw new Error("the disk is full");
  });
  terminal.sendSignal("SIGINT");
  await expect(code).rejects.toThrow("the disk is full");
});
