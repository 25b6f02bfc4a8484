import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRunning } from "../../../test/support/pids.ts";
import { Conversation } from "../../../test/support/turn.ts";
import { LIMITS, textOf } from "../../model/index.ts";
import { equip } from "../shared/bind-environment.ts";
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
  const conversation = new Conversation().said(script);
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
describe("what a program says", () => {
  test("is what an agent can say: words, data, files, artifacts, progress", async () => {
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
    const conversation = await run(`${script}; text("nobody hears this")`);
    expect([conversation.task.status.state, wordsIn(conversation), textIn(conversation)]).toEqual([
      state,
      words,
      "",
    ]);
  });

  test("may be several questions, and a bare reply", async () => {
    const asked = await run(`say("askAll", { questions: { a: "A?", b: "B?" } })`);
    expect(asked.task.status.asks).toEqual(["a", "b"]);
    const replied = await run(`say("reply", { text: "Hi" })`);
    expect(wordsIn(replied)).toBe("Hi");
  });

  test("without a word at the end: the end of the process will do, if it is a good one", async () => {
    expect(textIn(await run(`text("that is all"); process.exit(0)`))).toBe("that is all");
  });
});

describe("what a program is told", () => {
  test("is the task, the message, what was said before, and who asks", async () => {
    const conversation = new Conversation().said("text(JSON.stringify(turn)); say('done')", { client: "me" });
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

  test("is as much of the history as its definition wants", async () => {
    const conversation = new Conversation().said(
      "text(turn.history.map(m => m.messageId).join()); say('done')",
    );
    conversation.earlier = ["1", "2", "3"].map(messageId => ({ messageId, role: "user", parts: [] }));
    await conversation.run(agentWith({ history: 2 }));
    expect(textIn(conversation)).toBe("2,3");
  });

  test("are messages that come while it works, if it takes them", async () => {
    const conversation = new Conversation().said(`
      const more = await read();
      text(more.type + ": " + more.message.parts[0].text); say("done");`);
    conversation.incoming("hurry up");
    await conversation.run(agentWith({ acceptsWhileWorking: true }));
    expect(textIn(conversation)).toBe("message: hurry up");
  });
});

describe("where a program runs", () => {
  test("is the folder of whoever named it, with the variables that it may have", async () => {
    const agent = agentWith({ env: { OWN: "1" }, passEnv: ["GIVEN"] });
    const variables: Record<string, string> = { PATH: "/bin", GIVEN: "2", SECRET: "3" };
    equip(agent, { folder, variable: name => variables[name] });
    const conversation = new Conversation().said(
      `text(JSON.stringify([process.cwd(), process.env])); say("done")`,
    );
    await conversation.run(agent);
    const [cwd, env] = JSON.parse(textIn(conversation));
    expect(cwd).toBe(folder);
    expect(env).toEqual({ PATH: "/bin", OWN: "1", GIVEN: "2", PYTHONUNBUFFERED: "1", PYTHONUTF8: "1" });
  });

  test("must be there, and so must the program", async () => {
    expect(await failing("", { command: ["no-such-program"] })).toMatch(
      /^The program "no-such-program" could not be started in \/.*: spawn no-such-program ENOENT$/,
    );
    expect(await failing("", { cwd: "/no/such/folder" })).toContain(
      "could not be started in /no/such/folder",
    );
  });
});

describe("a program that goes wrong", () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    [
      `text("a"); console.log("hello")`,
      /^What the program said in line 2 of this turn is wrong: it is not JSON: "hello"; print to standard error/,
    ],
    [`console.log("[1]")`, /line 1 .* it must be an object with a type, got an array of 1/],
    [`say("shout")`, /there is no type "shout"; there are: text, data, file, /],
    [`say("stepped", { value: 1 })`, /stepped means nothing here: no step was begun/],
    [`say("constructor")`, /there is no type "constructor"/],
    [`say("text", { text: 7 })`, /Text must be a string, got the number 7/],
    [`say("file", { name: "a" })`, /ctx.file needs either bytes or url/],
    [`say("usage", { tokens: "many" })`, /Usage tokens must be a number/],
    [`say("step", { name: "a" }); text("b")`, /in a step it can say only stepped, log and usage, not text/],
    [`text("x".repeat(${LIMITS.programLineBytesMax}))`, /it said a line of more than 4194304 bytes/],
    [
      `console.error("one\\nlast words"); process.exit(3)`,
      /^The program exited with code 3\. Its last words on standard error:\none\nlast words$/,
    ],
    [`process.kill(process.pid, "SIGKILL")`, /^The program was ended by SIGKILL$/],
    [`say("step", { name: "a" }); process.exit(0)`, /^The program exited with code 0$/],
  ];
  test.each(wrong)("fails with a reason: %s", async (script, words) => {
    expect(await failing(script)).toMatch(words);
  });

  test("in time, if it has only so much", async () => {
    expect(await failing("await sleep(100_000)", { turnMs: 100, graceMs: 50 })).toBe(
      "The program took longer than 100 ms and was ended",
    );
  });
});

test("standard error and the program's own notes go to the log, and not without end", async () => {
  const gate = join(folder, "read");
  const conversation = new Conversation().said(`
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
  expect(logged.at(-1)?.text).toBe("the program writes too much: the rest of this turn is not logged");
});

describe("a program that is canceled", () => {
  /** Cancels when the program has told its process ids. */
  async function cancel(script: string, more: Partial<ProgramOptions> = {}) {
    const conversation = new Conversation().said(script);
    const running = conversation.run(agentWith({ graceMs: 100, ...more })).catch(error => error.message);
    await expect.poll(() => textIn(conversation)).toMatch(/\.$/);
    conversation.abort.abort(new Error("the run was canceled"));
    return { end: await running, pids: textIn(conversation).match(/\d+/g)?.map(Number) ?? [], conversation };
  }

  test("is told so, and by SIGTERM; what it says then is not waited for", async () => {
    const { end, conversation } = await cancel(`
      process.once("SIGTERM", async () => { console.error("heard " + (await read()).type); process.exit(0); });
      text(process.pid + ".");
      await sleep(100_000);`);
    expect(end).toBe("the run was canceled");
    await expect.poll(() => conversation.logged.map(one => one.text)).toEqual(["heard cancel"]);
  });

  test("and does not listen is killed, with all that it started", async () => {
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

test("what a program leaves behind when it ends is ended, too", async () => {
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
    const conversation = new Conversation().said(script);
    await conversation.run(agent);
    return textIn(conversation);
  };

  test("serves one turn after another with the same process", async () => {
    const agent = agentWith({ pool: 1 });
    const pids = [await turn(agent), await turn(agent), await turn(agent)];
    expect(new Set(pids).size).toBe(1);
  });

  test("has no more processes than it should: who comes later waits in line, and may leave it", async () => {
    const agent = agentWith({ pool: 2 });
    const gate = join(folder, "gate");
    const slow = `
      const { existsSync } = await import("node:fs");
      while (!existsSync(${JSON.stringify(gate)})) await sleep(5);
      ${pid}`;
    const both = [turn(agent, slow), turn(agent, slow)];
    const impatient = new Conversation().said(pid);
    const left = impatient.run(agent).catch(error => error.message);
    const patient = turn(agent);
    await new Promise(resolve => setTimeout(resolve, 300));
    impatient.abort.abort(new Error("the run was canceled"));
    expect(await left).toBe("the run was canceled");
    writeFileSync(gate, "");
    const pids = await Promise.all([...both, patient]);
    expect(new Set(pids).size).toBe(2);
  });

  test("replaces a process that broke, was canceled, or ended while it had nothing to do", async () => {
    const agent = agentWith({ pool: 1 });
    await expect(turn(agent, "process.exit(0)")).rejects.toThrow("The program exited with code 0");
    const first = await turn(
      agent,
      `text(String(process.pid)); say("done"); await sleep(50); process.exit(0)`,
    );
    await expect.poll(() => isRunning(Number(first))).toBe(false);
    expect(await turn(agent)).not.toBe(first);
  });

  test("lets processes go that have nothing to do", async () => {
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

  test("is done once, and its result is on record", async () => {
    const conversation = await run(script);
    expect(textIn(conversation)).toBe('[{"n":1},2]');
    expect(conversation.notes.map(({ name, value }) => [name, value])).toEqual([
      ["first", { n: 1 }],
      ["second", 2],
    ]);
  });

  test("that is on record is not done again", async () => {
    const conversation = new Conversation().said(script);
    conversation.notes = [{ kind: "step", name: "first", nth: 1, value: { n: 41 } }];
    await conversation.run(agentWith());
    expect(textIn(conversation)).toBe('[{"n":41},42]');
    await expect.poll(() => conversation.logged.map(one => one.text)).toEqual(["did second"]);
  });
});

test("options that are wrong are told at once", () => {
  const wrong = (options: object) => () => program({ name: "x", ...options } as ProgramOptions);
  expect(wrong({})).toThrow(
    'command: expected a list of words, such as ["python3", "agent.py"], got undefined',
  );
  expect(wrong({ command: "python3 agent.py" })).toThrow("command: expected a list of words");
  expect(wrong({ command: ["a"], comand: [] })).toThrow(
    'program() has no option "comand" (did you mean "command"?)',
  );
  expect(wrong({ command: ["a"], pool: -1 })).toThrow("pool: expected a whole number from 0 to 1000");
});
