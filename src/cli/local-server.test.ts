import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpc, sendParams, until } from "../../test/support/client.ts";
import { serve, type TestServer } from "../../test/support/server.ts";
import { agent } from "../index.ts";
import { addressFiles, writeAddress } from "../server/address-file.ts";
import * as callFile from "./commands/call.ts";
import * as cancelFile from "./commands/cancel.ts";
import * as cardFile from "./commands/card.ts";
import * as chatFile from "./commands/chat.ts";
import * as completionFile from "./commands/completion.ts";
import * as pushFile from "./commands/push.ts";
import * as tailFile from "./commands/tail.ts";
import * as tasksFile from "./commands/tasks.ts";
import { run } from "./program.ts";
import { createMemoryTerminal } from "./terminal/memory-terminal.ts";

/** Commands without a URL, against the server of the folder. */
const COMMANDS = [callFile, chatFile, tailFile, tasksFile, cancelFile, cardFile, pushFile, completionFile];

const AGENTS = [
  agent({
    name: "echo",
    inputModes: ["*/*"],
    run: task => `You said ${task.text}${task.files.map(file => ` [${file.name}]`).join("")}`,
  }),
  agent({
    name: "asker",
    async *run(task, ctx) {
      if (task.turn === 1) yield ctx.ask("For how many?");
      yield ctx.text(`A table for ${task.text}`);
    },
  }),
  agent({
    name: "seats",
    async *run(task, ctx) {
      if (task.turn === 1) yield ctx.askAll({ seat: "Aisle or window?", meal: "Fish or soup?" });
      yield ctx.text(`${task.answers.seat} and ${task.answers.meal}`);
    },
  }),
  agent({
    name: "mailer",
    async run(_task, ctx) {
      const mail = await ctx.credentials("mail");
      if (!mail) return ctx.askAuth({ name: "mail", scheme: "bearer", description: "To send your mail." });
      return "I may send your mail.";
    },
  }),
  agent({
    name: "doorkeeper",
    run: (task, ctx) =>
      task.turn === 1
        ? ctx.askAuth({ name: "door", scheme: "oauth2", url: "https://login.example/authorize" })
        : "It is open.",
  }),
];

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-local-"));
  mkdirSync(join(folder, ".dragoman"));
  writeFileSync(join(folder, "notes.xyz"), "some bytes");
  server = await serve(AGENTS);
  writeAddress(addressFiles(folder, join(folder, ".dragoman")).slice(0, 1), server.url);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function runCommand(
  args: readonly string[],
  parts: { answers?: readonly string[]; tty?: boolean; variables?: Record<string, string> } = {},
) {
  const terminal = createMemoryTerminal({
    tty: parts.tty ?? parts.answers !== undefined,
    answers: parts.answers ?? [],
    input: "",
    cwd: folder,
    variables: parts.variables ?? {},
    fetch,
    now: () => Date.now(),
  });
  const code = await run(args, COMMANDS, terminal);
  return { code, ...terminal.written, prompts: terminal.prompts };
}
const taskIn = (err: string): string => /[\w-]{36}/.exec(err)?.[0] ?? "";

describe("the local server", () => {
  test("is the default of every command", async () => {
    expect(await runCommand(["call", "good", "morning"])).toMatchObject({
      code: 0,
      out: "You said good morning\n",
    });
    expect((await runCommand(["card", "--agent", "asker"])).out).toContain("asker");
  });

  test("is that of DRAGOMAN_URL, if it is set", async () => {
    const { code, err } = await runCommand(["call", "hi"], {
      variables: { DRAGOMAN_URL: "http://127.0.0.1:65529" },
    });
    expect(code).toBe(1);
    expect(err).toContain("Nothing answers at http://127.0.0.1:65529/");
    expect(err).toContain("Start a server with: npx dragoman serve");
  });

  test("commands that are printed work as printed, with the task alone", async () => {
    const { err } = await runCommand(["call", "--agent", "echo", "hi"]);
    const [, words = ""] = /read it again: dragoman (.*)$/m.exec(err) ?? [];
    expect(await runCommand(words.split(" "))).toMatchObject({ code: 0, out: "You said hi\n" });
    expect(await runCommand(["tail", taskIn(err)])).toMatchObject({ code: 0, out: "You said hi\n" });
  });

  test("a task that does not exist is a sentence and an error", async () => {
    for (const command of ["tail", "cancel"]) {
      const { code, err } = await runCommand([command, "nope"]);
      expect(code).toBe(1);
      expect(err).toMatch(/^error: Task nope not found at http:\S+, for this caller\. List tasks with: /);
    }
    const { code, err } = await runCommand(["push", "nope"]);
    expect([code, err]).toEqual([
      1,
      "error: No webhook of task nope: the task has none, or does not exist\n",
    ]);
  });

  test("callers that are not let in read so, and not that their task is missing", async () => {
    const locked = await serve(AGENTS, { auth: ["tokens"], data: join(folder, "locked") });
    for (const command of ["call", "tail", "cancel", "tasks", "push"]) {
      const { code, err } = await runCommand([command, locked.url, ...(command === "tasks" ? [] : ["nope"])]);
      expect([command, code, err.match(/\n/g)?.length]).toEqual([command, 1, 1]);
      expect(err).toMatch(/^error: http:\S+ answered HTTP 401 Unauthorized: .* add --token TOKEN/);
    }
    await locked.stop();
  });

  test("is found by DRAGOMAN_DATA as an absolute path, too", async () => {
    const variables = { DRAGOMAN_DATA: join(folder, ".dragoman") };
    expect(await runCommand(["call", "hi"], { variables })).toMatchObject({ code: 0, out: "You said hi\n" });
  });

  test.each([["--stream"], ["--no-stream"]])("an agent on Arbiter's path answers once (%s)", async mode => {
    const flags = mode === "--no-stream" ? [mode] : [];
    const url = `${server.url}/v1/a2a/agents/echo`;
    const { code, out, err } = await runCommand(["call", url, "hi", ...flags]);
    expect([code, out]).toEqual([0, "You said hi\n"]);
    expect(err).not.toContain("You said");
    expect(await runCommand(["tail", url, taskIn(err)])).toMatchObject({ code: 0, out: "You said hi\n" });
  });

  test("a file of a type that the agent does not take is refused with one sentence", async () => {
    const { code, err } = await runCommand(["call", "--agent", "asker", "hi", "--file", "notes.xyz"]);
    expect(code).toBe(1);
    expect(err.match(/Unsupported media type/g)).toHaveLength(1);
  });

  test("an unknown agent is a sentence with the names of the others", async () => {
    const { code, err } = await runCommand(["call", "--agent", "nope", "hi"]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /404 Not Found: Agent "nope" not found; available: echo, asker, seats, mailer, doorkeeper\n$/,
    );
  });

  test("tasks of all agents are one table, the newest first", async () => {
    await runCommand(["call", "--agent", "asker", "first"]);
    await runCommand(["call", "--agent", "echo", "second"]);
    const { out } = await runCommand(["tasks", "--limit", "2"]);
    const [heading = "", ...rows] = out.trimEnd().split("\n");
    expect(heading.split(/\s{2,}/)).toEqual(["ID", "AGENT", "STATE", "CONTEXT", "WHEN", "FIRST WORDS"]);
    expect(
      rows.map(row =>
        row
          .split(/\s{2,}/)
          .toSpliced(0, 1)
          .toSpliced(2, 2),
      ),
    ).toEqual([
      ["echo", "completed", "second"],
      ["asker", "input-required", "first"],
    ]);
    expect((await runCommand(["tasks", "--json", "--limit", "3"])).out.trimEnd().split("\n")).toHaveLength(3);
  });
});

describe("questions", () => {
  test("in a script they end with exit code 4 and the command that answers", async () => {
    const { code, out, err } = await runCommand(["call", "--agent", "asker", "book"]);
    expect([code, out]).toEqual([4, "For how many?\n"]);
    const [, words = ""] = /waits for an answer: dragoman (.*)$/m.exec(err) ?? [];
    const answer = words.replace("'your answer'", "four").split(" ");
    expect(await runCommand(answer)).toMatchObject({ code: 0, out: "A table for four\n" });
  });

  test("several questions are several prompts; in a script, one data part", async () => {
    const asked = await runCommand(["call", "--agent", "seats", "fly"], { answers: ["window", "soup"] });
    expect(asked.prompts).toEqual(["Aisle or window? ", "Fish or soup? "]);
    expect(asked.out).toContain("window and soup\n");
    const { code, out, err } = await runCommand(["call", "--agent", "seats", "fly"]);
    expect([code, out]).toEqual([4, "Aisle or window?\nFish or soup?\n"]);
    expect(err).toContain(
      `--data '{"resume":[{"id":"seat","value":"…"},{"id":"meal","value":"…"}]}' --task `,
    );
  });

  test("a secret is asked for without showing it, and is not in the output", async () => {
    const { code, out, err, prompts } = await runCommand(["call", "--agent", "mailer", "send"], {
      answers: ["my-secret-token"],
    });
    expect(prompts).toEqual(["mail (not shown): "]);
    expect(out).toMatch(/I may send your mail\.\n$/);
    expect([code, `${out}${err}`.includes("my-secret-token")]).toEqual([0, false]);
  });

  test("an authorization in a browser is waited for, also if the task has ended by then", async () => {
    const waiting = runCommand(["call", "--agent", "doorkeeper", "open"], { tty: true });
    let id: string | undefined;
    await until(async () => {
      const { body } = await rpc(`${server.url}/agents/doorkeeper`, "ListTasks", {});
      const [task] = body.result.tasks;
      id = task?.status.state === "TASK_STATE_AUTH_REQUIRED" ? task.id : undefined;
      return id !== undefined;
    });
    await rpc(`${server.url}/agents/doorkeeper`, "SendMessage", sendParams("done", { taskId: id }));
    const { code, out, err } = await waiting;
    expect([code, out]).toEqual([0, expect.stringMatching(/It is open\.\n$/)]);
    expect(err).toContain("Open https://login.example/authorize in a browser; this command waits");
  });
});

describe("chat", () => {
  test("is one conversation, with files and answers to questions", async () => {
    const answers = ["hello", "/file notes.xyz", "look", "/nope", "/new", "/quit"];
    const { code, out, err, prompts } = await runCommand(["chat", "echo"], { answers });
    expect(code).toBe(0);
    expect(out).toBe("You said hello\nYou said look [notes.xyz]\n");
    expect(prompts).toEqual(["you> ", "you> ", "you (1 file)> ", "you> ", "you> ", "you> "]);
    expect(err).toContain("/file PATH, /new, /quit\na new conversation\n");
    const talk = await runCommand(["chat", "asker"], { answers: ["book", "six", "/quit"] });
    expect(talk.prompts).toEqual(["you> ", "> ", "you> "]);
    expect(talk.out).toBe("For how many?\nA table for six\n");
  });

  test("a message that is refused does not end it; without a terminal it is an error", async () => {
    const { code, err } = await runCommand(["chat", "echo"], { answers: ["/file nope.txt", "/quit"] });
    expect([code, err.includes("nope.txt cannot be read: ENOENT")]).toEqual([0, true]);
    const piped = await runCommand(["chat", "echo"], { tty: false });
    expect([piped.code, piped.err]).toEqual([
      1,
      'error: A chat needs a terminal. In a script: dragoman call "hello"\n',
    ]);
  });
});

test("the token of the environment goes to the local server and not to others", async () => {
  const { toRemote } = await import("./terminal/target.ts");
  const terminal = { cwd: "/", variable: (name: string) => ({ DRAGOMAN_TOKEN: "t" })[name] };
  expect(toRemote(terminal, undefined, {}).headers).toEqual({ authorization: "Bearer t" });
  expect(toRemote(terminal, "https://other.example", {}).headers).toEqual({});
  expect(toRemote(terminal, "https://other.example", { token: "u" }).headers).toEqual({
    authorization: "Bearer u",
  });
});

test.each([
  ["bash", 'compgen -W "call chat'],
  ["zsh", "#compdef dragoman"],
  ["fish", "complete -c dragoman -n '__fish_seen_subcommand_from tail' -l from -r -d "],
])("completion for %s has every command and flag", async (shell, text) => {
  const { code, out } = await runCommand(["completion", shell]);
  expect(code).toBe(0);
  expect(out).toContain(text);
  for (const name of ["call", "chat", "tail", "redeliver"]) expect(out).toContain(name);
  expect((await runCommand(["completion", "nope"])).code).toBe(1);
});
