import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LoadOutcome, type LoadRun, loadInChild } from "../../test/support/load.ts";

interface Bad {
  readonly source: string;
  /** The file of the error, if it is another one. */
  readonly file?: string;
  readonly line?: number;
  readonly reason: RegExp;
  readonly hint?: RegExp;
}

const BAD: Readonly<Record<string, Bad>> = {
  "syntax.ts": {
    source: "// one\nexport default async function* run( {\n  yield 1;\n}\n",
    line: 3,
    reason: /^Expected ','/,
    hint: /Correct this line/,
  },
  "syntax.js": {
    source: "// one\nexport const a = 1;\nconst b = ;\n",
    line: 3,
    reason: /^Unexpected token ';'$/,
    hint: /Correct this line/,
  },
  "declared-twice.ts": {
    source: "export const a: number = 1;\nlet b = 1;\nlet b = 2;\n",
    reason: /'b' has already been declared/,
    hint: /Correct this line/,
  },
  "enum.ts": {
    source: "// one\n\nenum Colour { Red }\nexport default Colour;\n",
    line: 3,
    reason: /enum is not supported/,
    hint: /as const.*erasableSyntaxOnly/,
  },
  "namespace.ts": {
    source: "namespace Inner { export const a = 1; }\nexport default () => Inner.a;\n",
    line: 1,
    reason: /namespace.* is not supported/,
    hint: /a file instead of a namespace/,
  },
  "property.ts": {
    source: "export class A {\n  constructor(private a: string) {}\n}\n",
    line: 2,
    reason: /parameter property is not supported/,
    hint: /instead of parameter properties/,
  },
  "package.ts": {
    source: '// one\nimport { z } from "@missing/package/deep";\nexport default () => z;\n',
    line: 2,
    reason: /Cannot find package '@missing\/package'/,
    hint: /^npm install @missing\/package \(in .*\)$/,
  },
  "required.cjs": {
    source: "// one\nconst { z } = require('missing-package');\nexports.z = z;\n",
    line: 2,
    reason: /Cannot find module 'missing-package'/,
    hint: /^npm install missing-package \(in .*\)$/,
  },
  "extension.ts": {
    source: '// one\nimport { x } from "./_helper";\nexport default () => x;\n',
    line: 2,
    reason: /Cannot find module/,
    hint: /^Write the full file name: "\.\/_helper\.ts"$/,
  },
  "compiled.ts": {
    source: 'import { x } from "./_nowhere.js";\nexport default () => x;\n',
    line: 1,
    reason: /Cannot find module/,
    hint: /File not found: .*_nowhere\.js; check the spelling/,
  },
  "graph.ts": {
    source: 'import { StateGraph } from "@langchain/langgraph";\nexport default () => StateGraph;\n',
    line: 1,
    reason: /Cannot find package '@langchain\/langgraph'/,
    hint: /^npm install @langchain\/langgraph @langchain\/core \(in .+\)$/,
  },
  "missing.ts": {
    source: 'import { x } from "./nowhere.ts";\nexport default () => x;\n',
    line: 1,
    reason: /Cannot find module/,
    hint: /File not found: .*nowhere\.ts; check the spelling/,
  },
  "type.ts": {
    source: '// one\nimport { agent, AgentTask } from "dragoman";\nexport default agent;\n',
    line: 2,
    reason: /does not provide an export named 'AgentTask'/,
    hint: /import type \{ AgentTask \}/,
  },
  "json.ts": {
    source: '// one\nimport data from "./data.json";\nexport default () => data;\n',
    line: 2,
    reason: /needs an import attribute/,
    hint: /with \{ type: "json" \}/,
  },
  "throws.ts": {
    source: "export default () => 'x';\nfunction fail() {\n  throw new Error('no key');\n}\nfail();\n",
    line: 3,
    reason: /^The module threw an error: no key$/,
  },
  "throws-words.ts": {
    source: "export {};\nthrow 'just words';\n",
    reason: /^The module threw an error: just words$/,
  },
  "nested.ts": {
    source: "import './enum.ts';\nexport default () => 'x';\n",
    file: "enum.ts",
    line: 3,
    reason: /enum is not supported.*\(imported by .*nested\.ts\)$/,
    hint: /as const/,
  },
  "empty.ts": {
    source: "export {};\n",
    reason: /exports no agent: it exports nothing/,
    hint: /export default agent\(/,
  },
  "number.ts": {
    source: "// one\nexport default 5;\n",
    line: 2,
    reason: /exports no agent: its default export is a number/,
    hint: /Export an agent:\n.*import \{ agent \} from "dragoman";/,
  },
  "unmarked.ts": {
    source: "export const one = { name: 'one', run: () => 'x' };\n",
    reason: /its exports \(one\) were not made with agent\(\)/,
    hint: /export default agent\(/,
  },
  "no-run.ts": {
    source: "export default { name: 'no-run' };\n",
    reason: /^The agent's run must be a function$/,
    hint: /async \*run\(task, ctx\)/,
  },
  "key.ts": {
    source:
      'import { agent } from "dragoman";\nexport default agent({\n  name: "key",\n  skils: [],\n  run: () => "x",\n});\n',
    line: 4,
    reason: /^An agent has no skils \(did you mean "skills"\?\)$/,
    hint: /Rename or remove it/,
  },
  "skill.ts": {
    source: "export default {\n  name: 'skill',\n  skills: [{ name: 'x' }],\n  run: () => 'x',\n};\n",
    reason: /^The agent's skills\[0\]\.id is required$/,
    hint: /Export an agent/,
  },
  "text.ts": {
    source: "export default {\n  description: () => 'x',\n  run: () => 'x',\n};\n",
    line: 2,
    reason: /^The agent's description must be string, got function$/,
    hint: /Export an agent/,
  },
  "url.ts": {
    source: "export default {\n  provider: { organization: 'x', url: 'x' },\n  run: () => 'x',\n};\n",
    line: 2,
    reason: /^The agent's provider\.url must be a URL$/,
    hint: /Export an agent/,
  },
  "absent.ts": {
    source: "export default {\n  description: undefined,\n  turns: 'never',\n  run: () => 'x',\n};\n",
    line: 3,
    reason: /^The agent's turns must be one of "queue", "reject", "parallel"$/,
    hint: /Export an agent/,
  },
  "extended.ts": {
    source: "export default {\n  extendedCard: { skills: [{ name: 'x' }] },\n  run: () => 'x',\n};\n",
    reason: /^The agent's extendedCard\.skills\[0\]\.id is required$/,
    hint: /Export an agent/,
  },
  "name.ts": {
    source:
      'import { agent } from "dragoman";\n\nexport default agent({ name: "My Agent", run: () => "x" });\n',
    line: 3,
    reason: /^The agent name "My Agent" is not allowed: 1 to 64 lower-case letters/,
    hint: /name: "my-agent"/,
  },
  "Upper Case.ts": {
    source: "export default () => 'x';\n",
    reason: /^The agent's name must be 1 to 64 lower-case letters.*, got "Upper Case"$/,
    hint: /or rename the file/,
  },
  "view.tsx": {
    source: "export default () => 'x';\n",
    reason: /Unknown file extension/,
    hint: /\.ts, \.mts, \.js or \.mjs/,
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
  expect(failure?.name).toBe("StartupError");
  return failure as NonNullable<LoadOutcome["failure"]>;
};

describe("a file that does not load is reported with file, line, reason and hint", () => {
  test.each(Object.entries(BAD))("%s", (name, bad) => {
    const failure = failureOf(name);
    expect(failure.file).toBe(join(run.root, bad.file ?? name));
    expect(failure.reason).toMatch(bad.reason);
    if (bad.line !== undefined) expect(failure.line).toBe(bad.line);
    if (bad.hint === undefined) expect(failure.hint).toBeUndefined();
    else expect(failure.hint).toMatch(bad.hint);
  });

  test("in a few lines", () => {
    expect(failureOf("extension.ts").message.split("\n")).toEqual([
      `Cannot load ${join(run.root, "extension.ts")}:2`,
      `  Cannot find module '${join(run.root, "_helper")}' imported from ${join(run.root, "extension.ts")}`,
      '    2 | import { x } from "./_helper";',
      '  Fix: Write the full file name: "./_helper.ts"',
    ]);
  });
});

describe("a source without an agent is reported", () => {
  test("when the file does not exist, with the nearest name", () => {
    expect(failureOf("noFile")).toMatchObject({
      file: join(run.root, "ecko.ts"),
      reason: "File not found",
      hint: 'Check the spelling (did you mean "echo.ts"?)',
    });
    expect(failureOf("noFolder").hint).toBe(`The folder ${join(run.root, "nowhere")} does not exist either`);
  });

  test("when no file matches, and when a folder contains no agent file", () => {
    expect(failureOf("noMatch").reason).toBe("No file matches this pattern");
    expect(failureOf("emptyFolder").reason).toMatch(/^The folder contains no agent files/);
  });
});

test("two agents of one name are rejected, with both files", () => {
  expect(failureOf("twice")).toMatchObject({
    file: join(run.root, "again/echo.mjs"),
    reason: `The agent name "echo" is used here and in ${join(run.root, "echo.ts")}`,
  });
  expect(failureOf("same").reason).toBe('The agent name "a" is used twice in this file');
});

test("an agent in the config is validated like one in a file", () => {
  expect(failureOf("wrongObject").reason).toBe("An agent has no colour");
});
