import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createTerminal } from "./process-terminal.ts";

/** A process whose streams are terminals. */
function createProcess() {
  const toTerminal = () =>
    Object.assign(new PassThrough(), { isTTY: true, columns: 80, hasColors: () => false });
  const streams = { stdin: toTerminal(), stdout: toTerminal(), stderr: toTerminal() };
  let shown = "";
  streams.stderr.setEncoding("utf8").on("data", text => (shown += text));
  const own = { ...streams, argv: [], cwd: () => "/", platform: "linux" } as unknown as NodeJS.Process;
  const rest = {
    version: "0",
    root: "/",
    variable: () => undefined,
    now: () => 0,
    sinceStartMs: () => 0,
    fetch,
  };
  return { terminal: createTerminal({ process: own, ...rest }), stdin: streams.stdin, shown: () => shown };
}

const never = new AbortController().signal;

test("a question is shown with what is typed", async () => {
  const { terminal, stdin, shown } = createProcess();
  const answer = terminal.ask("city? ", never);
  stdin.write("Oslo\r");
  expect(await answer).toBe("Oslo");
  expect(shown()).toContain("city? ");
  expect(shown()).toContain("Oslo");
});

test("a question for a secret is shown, and the secret is not", async () => {
  const { terminal, stdin, shown } = createProcess();
  const answer = terminal.askSecret("mail (not shown): ", never);
  stdin.write("s3cret\r");
  expect(await answer).toBe("s3cret");
  expect(shown()).toBe("mail (not shown): \n");
});

test("Ctrl-D is no answer", async () => {
  const { terminal, stdin, shown } = createProcess();
  const answer = terminal.askSecret("mail (not shown): ", never);
  stdin.write("\x04");
  expect(await answer).toBeNull();
  expect(shown()).toBe("mail (not shown): \n");
});
