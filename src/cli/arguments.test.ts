import { Command } from "commander";
import { expect, test } from "vitest";
import { flagName, OPTION_NAMES, OPTIONS, RENAMED } from "../config/options/index.ts";
import * as callFile from "./commands/call.ts";
import * as cancelFile from "./commands/cancel.ts";
import * as cardFile from "./commands/card.ts";
import * as devFile from "./commands/dev.ts";
import * as serveFile from "./commands/serve.ts";
import * as tailFile from "./commands/tail.ts";
import * as tasksFile from "./commands/tasks.ts";
import { run } from "./program.ts";
import { serveOptions } from "./serve/options.ts";
import { toServeOptions } from "./serve/serve-agents.ts";
import { createMemoryTerminal } from "./terminal/memory-terminal.ts";

const COMMANDS = {
  serve: serveFile,
  dev: devFile,
  call: callFile,
  tail: tailFile,
  tasks: tasksFile,
  cancel: cancelFile,
  card: cardFile,
};

async function runCommand(...args: readonly string[]) {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  const code = await run(args, Object.values(COMMANDS), terminal);
  return { code, ...terminal.written };
}

test("the help names every command", async () => {
  const { code, out } = await runCommand("--help");
  expect(code).toBe(0);
  for (const name of Object.keys(COMMANDS)) expect(out).toMatch(new RegExp(`^ {2}${name} `, "m"));
});

test.each(Object.keys(COMMANDS))("the help of %s has an example and --json", async name => {
  const { code, out } = await runCommand(name, "--help");
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`Examples?:\\n {2}dragoman ${name} `));
  expect(out).toContain("--json");
});

test("the version is that of the package", async () => {
  expect(await runCommand("--version")).toEqual({ code: 0, out: "0.0.0\n", err: "" });
});

test("without a command the help is shown as an error", async () => {
  const { code, out, err } = await runCommand();
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("Usage: dragoman");
});

const INVALID: readonly [sentence: string, args: readonly string[], message: string][] = [
  [
    "an unknown command suggests the nearest one",
    ["sreve"],
    "unknown command 'sreve'\n(Did you mean serve?)",
  ],
  [
    "an unknown option suggests the nearest one",
    ["call", "x", "--jsn"],
    "unknown option '--jsn'\n(Did you mean --json?)",
  ],
  ["a missing argument is named", ["tail", "http://x"], "missing required argument 'task'"],
  ["an extra argument is an error", ["card", "http://x", "y"], "too many arguments for 'card'"],
  [
    "an unknown state is an error",
    ["tasks", "x", "--state", "done"],
    "Allowed choices are submitted, working,",
  ],
  ["a limit must be a number", ["tasks", "x", "--limit", "0"], "It must be a whole number, 1 or more."],
  [
    "a time must be a number",
    ["call", "x", "y", "--timeout", "soon"],
    "It must be a number of seconds, more than 0.",
  ],
  ["a header must have a name", ["card", "x", "--header", "secret"], "It must be like 'Name: value'."],
  ["an unknown policy is an error", ["serve", "--card-policy", "v2"], "Allowed choices are hybrid, v1."],
  ["data must be JSON", ["call", "http://x", "--data", "{"], "--data is not JSON: "],
  [
    "a message must not be empty",
    ["call", "http://x"],
    'The message is empty. Example: dragoman call "hello"',
  ],
  ["a file must exist", ["call", "http://x", "--file", "/nope"], "/nope cannot be read: ENOENT"],
  ["a URL must be HTTP", ["card", "ftp://x"], '"ftp://x" is not the URL of an agent.'],
];

test.each(INVALID)("%s", async (_sentence, args, message) => {
  const { code, out, err } = await runCommand(...args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(/^error: /);
  expect(err).toContain(message);
  expect(err).not.toContain("    at ");
});

test("every option that is not secret is a flag, and a boolean option has a flag for each value", () => {
  const flags = serveOptions(new Command()).options.map(option => option.long);
  const known = OPTION_NAMES.filter(name => OPTIONS[name].isFlag).map(flagName);
  const off = OPTION_NAMES.filter(name => typeof OPTIONS[name].default === "boolean").map(
    name => `--no-${flagName(name).slice(2)}`,
  );
  const former = Object.keys(RENAMED).map(flagName);
  expect(flags.toSorted()).toEqual(
    [...known, ...off, ...former, "--config", "--json", "--verbose"].toSorted(),
  );
});

test("the former flag of a renamed option is accepted and not in the help", async () => {
  const command = serveOptions(new Command());
  command.action(() => undefined).parse(["--bell", "nats://x"], { from: "user" });
  expect(command.opts()).toEqual({ bell: "nats://x" });
  const { out } = await runCommand("serve", "--help");
  expect(out).toContain("--notify <url>");
  expect(out).not.toContain("--bell");
});

test("flags are passed on unchanged", () => {
  const command = serveOptions(new Command()).action(() => undefined);
  command.parse(["a.ts", "--port", "0", "--public-url", "https://x", "--trust-proxy", "--json"], {
    from: "user",
  });
  expect(toServeOptions(command.args, command.opts(), false)).toEqual({
    files: ["a.ts"],
    flags: { port: "0", publicUrl: "https://x", trustProxy: true },
    json: true,
    verbose: false,
    watch: false,
  });
});
