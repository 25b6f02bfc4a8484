import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRunning } from "../../../test/support/pids.ts";
import { Conversation } from "../../../test/support/turn.ts";
import { LIMITS, textOf } from "../../model/index.ts";
import { bindEnvironment } from "../shared/bind-environment.ts";
import { type ProgramOptions, program } from "./index.ts";

const SCRIPT = new URL("../../../test/support/programs/script.mjs", import.meta.url).pathname;
const command = [process.execPath, SCRIPT];
const agentWith = (more: Partial<ProgramOptions> = {}) => program({ name: "tested", command, ...more });

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-test-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What comes of a turn in which the program runs this. */
async function run(script: string, more: Partial<ProgramOptions> = {}): Promise<Conversation> {
  const conversation = new Conversation().addMessage(script);
  await conversation.run(agentWith(more));
  return conversation;
}
const failing = (script: string, more: Partial<ProgramOptions> = {}): Promise<string> =>
  run(script, more).then(
    () => "it did not fail",
    error => error.message,
  );
const textIn = ({ task }: Conversation): string => task.artifacts.map(one => textOf(one.parts)).join("");
const wordsIn = ({ task }: Conversation): string => textOf(task.status.message?.parts ?? []);
describe("the output of a program", () => {
  test("is text, data, files, artifacts and progress", async () => {
    const conversation = await run(`
      say("status", { text: "on my way" });
      text("Hello "); text("world");
      say("text", { text: "aside", name: "note", last: true });
      say("data", { data: { n: 1 }, name: "number" });
      say("file", { name: "a.txt", bytes: "YQ==" });
      say("artifact", { artifactId: "x", parts: ["one", { kind: "data", data: 2 }] });
      say("usage", { inputTokens: 3, outputTokens: 4 });
      say("done");`);
    expect(conversation.task.artifacts).toEqual([
      { artifactId: "response", name: "response", parts: [{ kind: "text", text: "Hello world" }] },
      { artifactId: "note", name: "note", parts: [{ kind: "text", text: "aside" }] },
      { artifactId: "data-1", name: "number", parts: [{ kind: "data", data: { n: 1 } }] },
      {
        artifactId: "file-2",
        name: "a.txt",
        parts: [{ kind: "bytes", bytes: "YQ==", filename: "a.txt", mediaType: "text/plain" }],
      },
      {
        artifactId: "x",
        parts: [
          { kind: "text", text: "one" },
          { kind: "data", data: 2 },
        ],
      },
    ]);
    expect(wordsIn(conversation)).toBe("on my way");
    expect(conversation.task.usage).toEqual({ inputTokens: 3, outputTokens: 4 });
  });

  const ends: readonly (readonly [string, string, string])[] = [
    [`say("ask", { text: "Which?" })`, "input-required", "Which?"],
    [`say("reject", { parts: ["No", "!"] })`, "rejected", "No!"],
    [`say("fail", { text: "Too hard" })`, "failed", "Too hard"],
  ];
  test.each(ends)("may end the turn: %s", async (script, state, words) => {
    const conversation = await run(`${script}; text("ignored")`);
    expect([conversation.task.status.state, wordsIn(conversation), textIn(conversation)]).toEqual([
      state,
      words,
      "",
    ]);
  });

  test("may be several questions, or a reply message", async () => {
    const asked = await run(`say("askAll", { questions: { a: "A?", b: "B?" } })`);
    expect(asked.task.status.asks).toEqual(["a", "b"]);
    const replied = await run(`say("reply", { text: "Hi" })`);
    expect(wordsIn(replied)).toBe("Hi");
  });

  test("is complete when the process exits with code 0", async () => {
    expect(textIn(await run(`text("that is all"); process.exit(0)`))).toBe("that is all");
  });
});

describe("the turn that a program gets", () => {
  test("contains the task, the message, the history and the caller", async () => {
    const conversation = new Conversation().addMessage("text(JSON.stringify(turn)); say('done')", {
      client: "me",
    });
    conversation.earlier = [
      { messageId: "e1", role: "user", parts: [{ kind: "text", text: "earlier" }], metadata: {} },
    ];
    await conversation.run(agentWith());
    expect(JSON.parse(textIn(conversation))).toEqual({
      type: "turn",
      protocol: 1,
      task: { id: "task-1", contextId: "context-1", turn: 1, attempt: 1, metadata: { client: "me" } },
      text: conversation.task.history[0]?.parts.map(part => (part.kind === "text" ? part.text : "")).join(""),
      answers: {},
      message: {
        messageId: "user-1",
        role: "user",
        parts: conversation.task.history[0]?.parts,
      },
      history: [{ messageId: "e1", role: "user", parts: [{ kind: "text", text: "earlier" }], metadata: {} }],
      caller: { tenant: "default", principal: "anonymous" },
    });
  });

  test("contains as many messages of the history as the options say", async () => {
    const conversation = new Conversation().addMessage(
      "text(turn.history.map(m => m.messageId).join()); say('done')",
    );
    conversation.earlier = ["1", "2", "3"].map(messageId => ({ messageId, role: "user", parts: [] }));
    await conversation.run(agentWith({ history: 2 }));
    expect(textIn(conversation)).toBe("2,3");
  });

  test("is followed by messages that arrive while it works, if the agent accepts them", async () => {
    const conversation = new Conversation().addMessage(`
      const more = await read();
      text(more.type + ": " + more.message.parts[0].text); say("done");`);
    conversation.addIncoming("hurry up");
    await conversation.run(agentWith({ acceptsWhileWorking: true }));
    expect(textIn(conversation)).toBe("message: hurry up");
  });
});

describe("the environment of a program", () => {
  test("is the folder of its config, with the allowed variables", async () => {
    const agent = agentWith({ env: { OWN: "1" }, passEnv: ["GIVEN"] });
    const variables: Record<string, string> = { PATH: "/bin", GIVEN: "2", SECRET: "3" };
    bindEnvironment(agent, { folder, variable: name => variables[name] });
    const conversation = new Conversation().addMessage(
      `text(JSON.stringify([process.cwd(), process.env])); say("done")`,
    );
    await conversation.run(agent);
    const [cwd, env] = JSON.parse(textIn(conversation));
    expect(cwd).toBe(folder);
    expect(env).toEqual({ PATH: "/bin", OWN: "1", GIVEN: "2", PYTHONUNBUFFERED: "1", PYTHONUTF8: "1" });
  });

  test("requires that the folder and the program exist", async () => {
    expect(await failing("", { command: ["no-such-program"] })).toMatch(
      /^The program "no-such-program" could not be started in \/.*: spawn no-such-program ENOENT$/,
    );
    expect(await failing("", { cwd: "/no/such/folder" })).toContain(
      "could not be started in /no/such/folder",
    );
  });
});

describe("a program with an error", () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    [
      `text("a"); console.log("hello")`,
      /^Line 2 of the program's output in this turn is invalid: not JSON: "hello"; write everything else to standard/,
    ],
    [`console.log("[1]")`, /Line 1 .* expected an object with a type, got an array of 1/],
    [`say("shout")`, /unknown type "shout"; available: text, data, file, /],
    [`say("stepped", { value: 1 })`, /unexpected stepped: no step was started/],
    [`say("constructor")`, /unknown type "constructor"/],
    [`say("text", { text: 7 })`, /Text must be a string, got the number 7/],
    [`say("file", { name: "a" })`, /ctx.file needs either bytes or url/],
    [`say("usage", { tokens: "many" })`, /Usage tokens must be a number/],
    [
      `say("step", { name: "a" }); text("b")`,
      /inside a step only stepped, log and usage are allowed, not text/,
    ],
    [`text("x".repeat(${LIMITS.programLineBytesMax}))`, /longer than 4194304 bytes/],
    [
      `console.error("one\\nlast words"); process.exit(3)`,
      /^The program exited with code 3\. Last lines on standard error:\none\nlast words$/,
    ],
    [`process.kill(process.pid, "SIGKILL")`, /^The program was killed by SIGKILL$/],
    [`say("step", { name: "a" }); process.exit(0)`, /^The program exited with code 0$/],
  ];
  test.each(wrong)("fails with a reason: %s", async (script, words) => {
    expect(await failing(script)).toMatch(words);
  });

  test("fails after its timeout", async () => {
    expect(await failing("await sleep(100_000)", { turnMs: 100, graceMs: 50 })).toBe(
      "The program took longer than 100 ms and was stopped",
    );
  });
});

test("standard error and log lines of the program are logged, up to a limit", async () => {
  const gate = join(folder, "read");
  const conversation = new Conversation().addMessage(`
    const { existsSync } = await import("node:fs");
    say("log", { level: "warn", text: "careful", facts: { n: 1, taskId: "forged" } });
    console.error("x".repeat(5000));
    for (let i = 0; i < 2000; i++) console.error("line " + i);
    while (!existsSync(${JSON.stringify(gate)})) await sleep(5);
    say("done");`);
  const running = conversation.run(agentWith());
  // Standard error and the program's answers come on two ways: one may be quicker.
  await expect.poll(() => conversation.logged.length).toBe(LIMITS.programLogLinesMax + 1);
  writeFileSync(gate, "");
  await running;
  const { logged } = conversation;
  expect(logged[0]).toEqual({ text: "careful", facts: { n: 1, taskId: "task-1", from: "program" } });
  expect(logged.some(one => one.text.length === LIMITS.programLogCharsMax)).toBe(true);
  expect(logged).toHaveLength(LIMITS.programLogLinesMax + 1);
  expect(logged.at(-1)?.text).toBe("the program logs too much: the rest of this turn is not logged");
});

describe("a program that is canceled", () => {
  /** Cancels when the program has told its process ids. */
  async function cancel(script: string, more: Partial<ProgramOptions> = {}) {
    const conversation = new Conversation().addMessage(script);
    const running = conversation.run(agentWith({ graceMs: 100, ...more })).catch(error => error.message);
    await expect.poll(() => textIn(conversation)).toMatch(/\.$/);
    conversation.abort.abort(new Error("the run was canceled"));
    return { end: await running, pids: textIn(conversation).match(/\d+/g)?.map(Number) ?? [], conversation };
  }

  test("gets a cancel line and SIGTERM; its further output is not awaited", async () => {
    const { end, conversation } = await cancel(`
      process.once("SIGTERM", async () => { console.error("heard " + (await read()).type); process.exit(0); });
      text(process.pid + ".");
      await sleep(100_000);`);
    expect(end).toBe("the run was canceled");
    await expect.poll(() => conversation.logged.map(one => one.text)).toEqual(["heard cancel"]);
  });

  test("is killed with its child processes if it ignores that", async () => {
    const { pids } = await cancel(`
      process.on("SIGTERM", () => {});
      const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
      await sleep(300);
      text(process.pid + " " + child.pid + ".");
      await sleep(100_000);`);
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.some(isRunning)).toBe(false);
  });
});

test("child processes of a program are killed when it exits", async () => {
  const conversation = await run(`
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    text(String(child.pid));
    await sleep(200);
    process.exit(0);`);
  const pid = Number(textIn(conversation));
  await expect.poll(() => isRunning(pid)).toBe(false);
});

describe("a pool of programs", () => {
  const pid = `text(String(process.pid)); say("done")`;
  const turn = async (agent: ReturnType<typeof program>, script = pid): Promise<string> => {
    const conversation = new Conversation().addMessage(script);
    await conversation.run(agent);
    return textIn(conversation);
  };

  test("serves one turn after another with the same process", async () => {
    const agent = agentWith({ pool: 1 });
    const pids = [await turn(agent), await turn(agent), await turn(agent)];
    expect(new Set(pids).size).toBe(1);
  });

  test("is limited: further turns wait, and can be canceled while they wait", async () => {
    const agent = agentWith({ pool: 2 });
    const gate = join(folder, "gate");
    const slow = `
      const { existsSync } = await import("node:fs");
      while (!existsSync(${JSON.stringify(gate)})) await sleep(5);
      ${pid}`;
    const both = [turn(agent, slow), turn(agent, slow)];
    const impatient = new Conversation().addMessage(pid);
    const left = impatient.run(agent).catch(error => error.message);
    const patient = turn(agent);
    await new Promise(resolve => setTimeout(resolve, 300));
    impatient.abort.abort(new Error("the run was canceled"));
    expect(await left).toBe("the run was canceled");
    writeFileSync(gate, "");
    const pids = await Promise.all([...both, patient]);
    expect(new Set(pids).size).toBe(2);
  });

  test("replaces a process that failed, was canceled, or exited while it was idle", async () => {
    const agent = agentWith({ pool: 1 });
    await expect(turn(agent, "process.exit(0)")).rejects.toThrow("The program exited with code 0");
    const first = await turn(
      agent,
      `text(String(process.pid)); say("done"); await sleep(50); process.exit(0)`,
    );
    await expect.poll(() => isRunning(Number(first))).toBe(false);
    expect(await turn(agent)).not.toBe(first);
  });

  test("ends idle processes", async () => {
    const agent = agentWith({ pool: 3, idleMs: 50 });
    const one = Number(await turn(agent));
    await expect.poll(() => isRunning(one)).toBe(false);
  });
});

describe("a step of a program", () => {
  const script = `
    const first = await step("first", () => { console.error("did first"); return { n: 1 }; });
    const second = await step("second", () => { console.error("did second"); return first.n + 1; });
    text(JSON.stringify([first, second])); say("done");`;

  test("is executed once, and its result is recorded", async () => {
    const conversation = await run(script);
    expect(textIn(conversation)).toBe('[{"n":1},2]');
    expect(conversation.steps.map(({ name, value }) => [name, value])).toEqual([
      ["first", { n: 1 }],
      ["second", 2],
    ]);
  });

  test("that is recorded is not executed again", async () => {
    const conversation = new Conversation().addMessage(script);
    conversation.steps = [{ kind: "step", name: "first", nth: 1, value: { n: 41 } }];
    await conversation.run(agentWith());
    expect(textIn(conversation)).toBe('[{"n":41},42]');
    await expect.poll(() => conversation.logged.map(one => one.text)).toEqual(["did second"]);
  });
});

test("invalid options throw immediately", () => {
  const wrong = (options: object) => () => program({ name: "x", ...options } as ProgramOptions);
  expect(wrong({})).toThrow(
    'command: expected an array of strings, such as ["python3", "agent.py"], got undefined',
  );
  expect(wrong({ command: "python3 agent.py" })).toThrow("command: expected an array of strings");
  expect(wrong({ command: ["a"], comand: [] })).toThrow(
    'program() has no option "comand" (did you mean "command"?)',
  );
  expect(wrong({ command: ["a"], pool: -1 })).toThrow("pool: expected a whole number from 0 to 1000");
});
