import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LoadOutcome, type LoadRun, loadInChild } from "../../test/support/load.ts";

const FILES = {
  "echo.ts": `
    import { agent, type AgentTask } from "dragoman";
    import type { AgentEvent } from "dragoman/ports";
    export type Unused = AgentEvent;
    export default agent({ name: "echo", async *run(task: AgentTask, ctx) { yield ctx.text(task.text); } });`,
  "ports.mjs": 'import * as ports from "dragoman/ports";\nexport default () => typeof ports;',
  "several.ts": `
    import { agent } from "dragoman";
    export const one = agent({ name: "one", run: () => "1" });
    export const two = agent({ name: "two", run: () => "2" });
    export const helper = { name: "not-made-with-agent", run: () => "3" };
    export default one;`,
  "just-a-function.ts": "export default async function* (task: { text: string }) { yield task.text; }",
  "plain-object.mjs": "export default { name: 'plain', description: 'No import', run: () => 'x' };",
  "nameless.mjs": "export default { run: () => 'x' };",
  "weather/index.ts": "export default (): string => 'rain';",
  "commonjs/package.json": '{ "type": "commonjs" }',
  "commonjs/agent.ts":
    'import { agent } from "dragoman";\nimport { word } from "./_words.ts";\nexport default agent({ name: "modern", run: () => word });',
  "commonjs/_words.ts": "export const word: string = 'modern';",
  "commonjs/old.cjs":
    "const { agent } = require('dragoman'); exports.old = agent({ name: 'old', run: () => 'old' });",
  "compiled/agent.ts":
    'import { word } from "./_words.js";\nimport { other } from "./_other.js";\nexport default { name: "compiled", run: () => word + other };',
  "compiled/_words.ts": "export const word: string = 'source';",
  "compiled/_other.js": "export const other = ' and script';",
  "compiled/_other.ts": "throw new Error('the script is there');",
  "typeless/package.json": "{}",
  "typeless/agent.ts": "export default () => 'x';",
  "folder/b.ts": "export default () => 'b';",
  "folder/a.ts": "export default () => 'a';",
  "folder/_helper.ts": "export const x = 1;",
  "folder/a.test.ts": "throw new Error('a test is no agent');",
  "folder/types.d.ts": "export {};",
  "folder/notes.txt": "no code",
  "folder/node_modules/c/c.ts": "throw new Error('what is installed is no agent');",
  "[odd] folder/c.ts": "export default () => 'c';",
  "reload/agent.ts": `
    import { agent } from "dragoman";
    import { word } from "./_word.ts";
    import old from "./_old.cjs";
    const late = async () => (await import("./_late.ts")).late;
    export default agent({ name: "agent", description: word + " " + old.word, run: late });`,
  "reload/_word.ts": 'export { word } from "./_deep.ts";',
  "reload/_deep.ts": "export const word = 'first';",
  "reload/_late.ts": "export const late = 'first';",
  "reload/_old.cjs": "exports.word = 'first';",
};

const SECOND = {
  "reload/_deep.ts": "export const word = 'second';",
  "reload/_late.ts": "export const late = 'second';",
  "reload/_old.cjs": "exports.word = 'second';",
};
const reload = { sources: ["reload/agent.ts"] };

const CASES = {
  echo: { sources: ["echo.ts"] },
  ports: { sources: ["ports.mjs"] },
  several: { sources: ["several.ts"] },
  function: { sources: ["just-a-function.ts"] },
  plain: { sources: ["plain-object.mjs", "nameless.mjs", "weather/index.ts"] },
  commonjs: { sources: ["commonjs/agent.ts", "commonjs/old.cjs"] },
  compiled: { sources: ["compiled/agent.ts"] },
  typeless: { sources: ["typeless/agent.ts"] },
  folder: { sources: ["folder"] },
  globs: { sources: ["folder/b.ts", "folder/**/*.ts", "echo.ts"] },
  odd: { sources: ["[odd] folder/c.ts"] },
  object: { sources: [{ name: "object" }, "echo.ts"] },
  examples: { sources: [] },
  first: { ...reload, generation: 1 },
  same: { ...reload, generation: 1, write: SECOND },
  second: { ...reload, generation: 2 },
  broken: { ...reload, generation: 3, write: { "reload/_deep.ts": "export const word: string =\n;" } },
  mended: { ...reload, generation: 4, write: { "reload/_deep.ts": "export const word = 'third';" } },
};

let run: LoadRun;
beforeAll(() => {
  run = loadInChild(FILES, CASES);
});
afterAll(() => run.remove());

const outcome = (name: keyof typeof CASES): LoadOutcome => {
  const found = run.outcomes[name] as LoadOutcome;
  if (name !== "broken") expect(found.failure?.message).toBeUndefined();
  return found;
};
const namesOf = (name: keyof typeof CASES) => outcome(name).agents.map(one => one.name);
const wordsOf = (name: keyof typeof CASES) => outcome(name).agents.map(one => one.firstWord);
const inRoot = (...files: readonly string[]) => files.map(file => join(run.root, file));

describe("an agent file", () => {
  test("imports dragoman wherever it lies, with nothing installed beside it", () => {
    expect(outcome("echo").agents).toEqual([
      { name: "echo", file: join(run.root, "echo.ts"), firstWord: "hi" },
    ]);
    expect(wordsOf("ports")).toEqual(["object"]);
  });

  test("may export several agents, and one that is exported twice is one", () => {
    expect(namesOf("several")).toEqual(["one", "two"]);
  });

  test("may be just a function, and is then called like the file", () => {
    expect(outcome("function").agents).toMatchObject([{ name: "just-a-function", firstWord: "hi" }]);
  });

  test("may be a plain object, and an index is called like its folder", () => {
    expect(namesOf("plain")).toEqual(["plain", "nameless", "weather"]);
  });

  test("is a module if it is written like one, whatever a package.json says", () => {
    expect(wordsOf("commonjs")).toEqual(["modern", "old"]);
    expect(namesOf("typeless")).toEqual(["agent"]);
  });
});

test("a source of TypeScript may be imported by the name that it has when it is compiled, unless that is there", () => {
  expect(wordsOf("compiled")).toEqual(["source and script"]);
});

describe("agents are found", () => {
  test("in a folder, in the order of their names, without helpers, tests and types", () => {
    expect(namesOf("folder")).toEqual(["a", "b"]);
  });

  test("by globs, each file once, in the order in which they were named", () => {
    expect(namesOf("globs")).toEqual(["b", "a", "echo"]);
  });

  test("in a file whose name looks like a glob", () => {
    expect(namesOf("odd")).toEqual(["c"]);
  });

  test("as objects that were handed in", () => {
    expect(outcome("object").agents).toMatchObject([
      { name: "object", firstWord: "object" },
      { name: "echo" },
    ]);
    expect(outcome("object").agents[0]?.file).toBeUndefined();
  });

  test("among the bundled examples when none is named, and echo is the first", () => {
    expect(namesOf("examples")).toEqual(["echo", "booking", "countdown", "reporter", "research", "slow"]);
    const folder = fileURLToPath(new URL("../../examples/", import.meta.url));
    expect(outcome("examples").files).toContain(join(folder, "slow.ts"));
  });
});

describe("a reload", () => {
  const told = (name: keyof typeof CASES) => {
    const [found] = outcome(name).agents;
    return [found?.description, found?.firstWord];
  };

  test("imports an agent and all that it imports afresh, even what it imports later", () => {
    expect(told("first")).toEqual(["first first", "first"]);
    expect(told("second")).toEqual(["second second", "second"]);
  });

  test("of the same generation changes nothing", () => {
    // What is CommonJS has no generation: it is only looked at again when a module asks for it.
    expect(told("same")).toEqual(["first first", "first"]);
  });

  test("tells which files it depends on", () => {
    const files = inRoot("reload/agent.ts", "reload/_word.ts", "reload/_old.cjs", "reload/_deep.ts");
    expect([...outcome("first").files].sort()).toEqual([...files].sort());
  });

  test("that fails names the file that is broken, and the next one works again", () => {
    expect(outcome("broken").failure).toMatchObject({ file: join(run.root, "reload/_deep.ts"), line: 2 });
    expect(told("mended")).toEqual(["third second", "second"]);
  });
});

test("loading makes Node print nothing", () => {
  expect(run.stderr).toBe("");
});
