import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LoadOutcome, type LoadRun, loadInChild } from "../../test/support/load.ts";

interface Bad {
  readonly source: string;
  /** Where the failure is, if it is not in the file itself. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly reason: RegExp;
  readonly cure?: RegExp;
}

const BAD: Readonly<Record<string, Bad>> = {
  "syntax.ts": {
    source: "// one\nexport default async function* run( {\n  yield 1;\n}\n",
    line: 3,
    column: 9,
    reason: /^Expected ','/,
    cure: /Correct this line/,
  },
  "syntax.js": {
    source: "// one\nexport const a = 1;\nconst b = ;\n",
    line: 3,
    column: 11,
    reason: /^Unexpected token ';'$/,
    cure: /Correct this line/,
  },
  "declared-twice.ts": {
    source: "export const a: number = 1;\nlet b = 1;\nlet b = 2;\n",
    line: 3,
    column: 5,
    reason: /'b' has already been declared/,
    cure: /Correct this line/,
  },
  "enum.ts": {
    source: "// one\n\nenum Colour { Red }\nexport default Colour;\n",
    line: 3,
    column: 1,
    reason: /enum is not supported/,
    cure: /erasableSyntaxOnly.*as const/,
  },
  "namespace.ts": {
    source: "namespace Inner { export const a = 1; }\nexport default () => Inner.a;\n",
    line: 1,
    reason: /namespace.* is not supported/,
    cure: /erasableSyntaxOnly.*a file of their own/,
  },
  "property.ts": {
    source: "export class A {\n  constructor(private a: string) {}\n}\n",
    line: 2,
    reason: /parameter property is not supported/,
    cure: /assign it in the constructor/,
  },
  "package.ts": {
    source: '// one\nimport { z } from "@nobody/has-this/deep";\nexport default () => z;\n',
    line: 2,
    column: 19,
    reason: /Cannot find package '@nobody\/has-this'/,
    cure: /^npm install @nobody\/has-this \(in .*\)$/,
  },
  "required.cjs": {
    source: "// one\nconst { z } = require('nobody-has-this');\nexports.z = z;\n",
    line: 2,
    reason: /Cannot find module 'nobody-has-this'/,
    cure: /^npm install nobody-has-this \(in .*\)$/,
  },
  "extension.ts": {
    source: '// one\nimport { x } from "./_helper";\nexport default () => x;\n',
    line: 2,
    reason: /Cannot find module/,
    cure: /^Write the whole name of the file: "\.\/_helper\.ts"$/,
  },
  "compiled.ts": {
    source: 'import { x } from "./_nowhere.js";\nexport default () => x;\n',
    line: 1,
    reason: /Cannot find module/,
    cure: /There is no file .*_nowhere\.js: check the spelling/,
  },
  "graph.ts": {
    source: 'import { StateGraph } from "@langchain/langgraph";\nexport default () => StateGraph;\n',
    line: 1,
    column: 28,
    reason: /Cannot find package '@langchain\/langgraph'/,
    cure: /^npm install @langchain\/langgraph @langchain\/core \(in .+\)$/,
  },
  "missing.ts": {
    source: 'import { x } from "./nowhere.ts";\nexport default () => x;\n',
    line: 1,
    reason: /Cannot find module/,
    cure: /There is no file .*nowhere\.ts: check the spelling/,
  },
  "type.ts": {
    source: '// one\nimport { agent, AgentTask } from "dragoman";\nexport default agent;\n',
    line: 2,
    column: 17,
    reason: /does not provide an export named 'AgentTask'/,
    cure: /import type \{ AgentTask \}/,
  },
  "json.ts": {
    source: '// one\nimport data from "./data.json";\nexport default () => data;\n',
    line: 2,
    reason: /needs an import attribute/,
    cure: /with \{ type: "json" \}/,
  },
  "throws.ts": {
    source: "export default () => 'x';\nfunction fail() {\n  throw new Error('no key');\n}\nfail();\n",
    line: 3,
    column: 9,
    reason: /^It threw while it was imported: no key$/,
  },
  "throws-words.ts": {
    source: "export {};\nthrow 'just words';\n",
    reason: /^It threw while it was imported: just words$/,
  },
  "nested.ts": {
    source: "import './enum.ts';\nexport default () => 'x';\n",
    file: "enum.ts",
    line: 3,
    reason: /enum is not supported.*\(imported by .*nested\.ts\)$/,
    cure: /as const/,
  },
  "empty.ts": {
    source: "export {};\n",
    reason: /exports no agent: it exports nothing/,
    cure: /export default agent\(/,
  },
  "number.ts": {
    source: "// one\nexport default 5;\n",
    line: 2,
    reason: /exports no agent: its default export is a number/,
    cure: /Export an agent:\n.*import \{ agent \} from "dragoman";/,
  },
  "unmarked.ts": {
    source: "export const one = { name: 'one', run: () => 'x' };\n",
    reason: /what it exports \(one\) was not made with agent\(\)/,
    cure: /export default agent\(/,
  },
  "no-run.ts": {
    source: "export default { name: 'no-run' };\n",
    reason: /^The agent's run is wrong: expected a function$/,
    cure: /async \*run\(task, ctx\)/,
  },
  "key.ts": {
    source:
      'import { agent } from "dragoman";\nexport default agent({\n  name: "key",\n  skils: [],\n  run: () => "x",\n});\n',
    line: 4,
    reason: /^An agent has no skils \(did you mean "skills"\?\)$/,
    cure: /Rename it/,
  },
  "skill.ts": {
    source: "export default {\n  name: 'skill',\n  skills: [{ name: 'x' }],\n  run: () => 'x',\n};\n",
    reason: /^The agent's skills\[0\]\.id is wrong: .*expected string, received undefined$/,
    cure: /Export an agent/,
  },
  "extended.ts": {
    source: "export default {\n  extendedCard: { skills: [{ name: 'x' }] },\n  run: () => 'x',\n};\n",
    reason: /^The agent's extendedCard\.skills\[0\]\.id is wrong: .*expected string, received undefined$/,
    cure: /Export an agent/,
  },
  "name.ts": {
    source:
      'import { agent } from "dragoman";\n\nexport default agent({ name: "My Agent", run: () => "x" });\n',
    line: 3,
    column: 16,
    reason: /^The agent name "My Agent" is not allowed: 1 to 64 lower-case letters/,
    cure: /name: "my-agent"/,
  },
  "Upper Case.ts": {
    source: "export default () => 'x';\n",
    reason: /^The agent's name is wrong: expected 1 to 64 lower-case letters.*, got "Upper Case"$/,
    cure: /or rename the file/,
  },
  "view.tsx": {
    source: "export default () => 'x';\n",
    reason: /Unknown file extension/,
    cure: /\.ts, \.mts, \.js or \.mjs/,
  },
};

const BESIDE = {
  "_helper.ts": "export const x: number = 1;",
  "data.json": "{}",
  "none/readme.md": "nothing here",
  "echo.ts": "export default () => 'x';",
  "again/echo.mjs": "export default () => 'x';",
  "same.ts":
    'import { agent } from "dragoman";\nconst run = () => "x";\nexport const a = agent({ name: "a", run });\nexport const b = agent({ name: "a", run });\n',
};
const CASES = {
  noFile: { sources: ["ecko.ts"] },
  noFolder: { sources: ["nowhere/echo.ts"] },
  noMatch: { sources: ["none/*.ts"] },
  emptyFolder: { sources: ["none"] },
  twice: { sources: ["echo.ts", "again/echo.mjs"] },
  same: { sources: ["same.ts"] },
  wrongObject: { sources: [{ name: "object", colour: "red" }] },
};

let run: LoadRun;
beforeAll(() => {
  const sources = Object.entries(BAD).map(([file, { source }]) => [file, source]);
  const cases = Object.keys(BAD).map(file => [file, { sources: [file] }]);
  run = loadInChild(
    { ...BESIDE, ...Object.fromEntries(sources) },
    { ...CASES, ...Object.fromEntries(cases) },
  );
});
afterAll(() => run.remove());

const failureOf = (name: string) => {
  const { failure } = run.outcomes[name] as LoadOutcome;
  expect(failure?.name).toBe("LoadFailure");
  return failure as NonNullable<LoadOutcome["failure"]>;
};

describe("a file that does not load is told by file, place, reason and cure", () => {
  test.each(Object.entries(BAD))("%s", (name, bad) => {
    const failure = failureOf(name);
    expect(failure.file).toBe(join(run.root, bad.file ?? name));
    expect(failure.reason).toMatch(bad.reason);
    if (bad.line !== undefined) expect(failure.line).toBe(bad.line);
    if (bad.column !== undefined) expect(failure.column).toBe(bad.column);
    if (bad.cure === undefined) expect(failure.cure).toBeUndefined();
    else expect(failure.cure).toMatch(bad.cure);
  });

  test("in a few lines that can be read", () => {
    expect(failureOf("extension.ts").message.split("\n")).toEqual([
      `Cannot load ${join(run.root, "extension.ts")}:2:19`,
      `  Cannot find module '${join(run.root, "_helper")}' imported from ${join(run.root, "extension.ts")}`,
      '    2 | import { x } from "./_helper";',
      '  Cure: Write the whole name of the file: "./_helper.ts"',
    ]);
  });
});

describe("what names no agent is told", () => {
  test("when the file does not exist, with the name that was probably meant", () => {
    expect(failureOf("noFile")).toMatchObject({
      file: join(run.root, "ecko.ts"),
      reason: "There is no such file",
      cure: 'Check the spelling (did you mean "echo.ts"?)',
    });
    expect(failureOf("noFolder").cure).toBe(`There is no folder ${join(run.root, "nowhere")} either`);
  });

  test("when nothing matches, and when a folder has nothing that could be an agent", () => {
    expect(failureOf("noMatch").reason).toBe("No file matches this pattern");
    expect(failureOf("emptyFolder").reason).toMatch(/^The folder has no agent files/);
  });
});

test("two agents of one name are refused, with both files", () => {
  expect(failureOf("twice")).toMatchObject({
    file: join(run.root, "again/echo.mjs"),
    reason: `The agent name "echo" is used here and in ${join(run.root, "echo.ts")}`,
  });
  expect(failureOf("same").reason).toBe('The agent name "a" is used twice in this file');
});

test("an agent that was handed in as an object is checked like a file", () => {
  expect(failureOf("wrongObject").reason).toBe("An agent has no colour");
});
