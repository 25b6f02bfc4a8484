import { describe, expect, it } from "vitest";
import { envName, OPTION_NAMES, RENAMED } from "../src/config/options/index.ts";
import { brokenCitations, provedIn, statementsOf } from "./support/tidy-citations.ts";
import {
  commandsIn,
  DOCUMENTS,
  deadLinks,
  documentOf,
  headingsOf,
  linkedFrom,
  namedFiles,
  rowsOf,
  sectionOf,
  tableOf,
} from "./support/tidy-docs.ts";
import { entryOf, FOLDERS, folderOf, wrongImports } from "./support/tidy-folders.ts";
import { functionsIn } from "./support/tidy-functions.ts";
import * as tables from "./support/tidy-tables.ts";
import { filesBelow, importsOf, placesOf, readTree, type Source, toSource } from "./support/tidy-tree.ts";
import { isKnownCommand, SCRIPTS } from "./support/tidy-typed.ts";
import { BANS, idleExceptions, violations } from "./support/tidy-words.ts";

/** The rules that hold for every file of the repository. STYLE.md has the reasons. */

const isTest = (file: { readonly path: string }): boolean => /\.test\.ts$/.test(file.path);
const isCode = (file: { readonly path: string }): boolean => file.path.endsWith(".ts");

const TREE = filesBelow("");
const ALL: readonly Source[] = TREE.filter(isCode).map(toSource);
const SOURCES = ALL.filter(file => file.path.startsWith("src/") && !isTest(file));

// ---- arrows --------------------------------------------------------------------------------------------------

/** Samples of forbidden imports: otherwise an error in the table would not be noticed. */
const FOREIGN: readonly (readonly [path: string, from: string])[] = [
  ["src/model/task.ts", "../ports/index.ts"],
  ["src/model/task.ts", "node:crypto"],
  ["src/operation/send.ts", "../protocol/a2a-v1/index.ts"],
  ["src/operation/send.ts", "../model/task.ts"],
  ["src/operation/send.ts", "node:http"],
  ["src/protocol/orloj/decode.ts", "../../binding/jsonrpc.ts"],
  ["src/protocol/a2a-v1/decode.ts", "../../operation/send.ts"],
  ["src/store/memory/backend.ts", "../sqlite/backend.ts"],
  ["src/runner/run.ts", "../telemetry/log.ts"],
  ["src/binding/pipeline.ts", "../protocol/index.ts"],
  ["src/loader/load-agents.ts", "../runtime/function/index.ts"],
  ["src/client/open.ts", "../server/create-server.ts"],
];

describe("imports", () => {
  it("every file is in a folder of the table, and every folder of the table has a file", () => {
    expect(new Set(SOURCES.map(file => entryOf(folderOf(file.path))))).toEqual(new Set(Object.keys(FOLDERS)));
  });

  it("a folder imports only what the table allows", () => {
    expect(SOURCES.flatMap(wrongImports)).toEqual([]);
  });

  it.each(FOREIGN)("the table does not let %s import %s", (path, from) => {
    const one = { path, text: `import { x } from "${from}";\n` };
    expect(wrongImports(toSource(one))).toHaveLength(1);
  });

  it("no file outside of tests imports a test or shared test code", () => {
    const wrong = SOURCES.filter(file =>
      importsOf(file).some(({ from }) => /\/test\/|\.test\.ts$/.test(from)),
    );
    expect(wrong.map(file => file.path)).toEqual([]);
  });
});

// ---- sizes ---------------------------------------------------------------------------------------------------

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 400;
const GUIDE_FOR_MACHINES_LINES_MAX = 60;

describe("sizes", () => {
  it(`a function has at most ${FUNCTION_LINES_MAX} lines of its own`, () => {
    const long = ALL.flatMap(file =>
      functionsIn(file.code)
        .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
        .map(({ name, line, lines }) => `${file.path}:${line}: ${name} has ${lines} lines`),
    );
    expect(long).toEqual([]);
  });

  it("the measure finds long functions of every form, and accepts a factory of short ones", () => {
    const body = "  go();\n".repeat(80);
    const forms = [
      `function long(a: string): Promise<{ b: C }> {\n${body}}`,
      `const long = async (a = {}) => {\n${body}};`,
      `class A {\nlong(): readonly B[] {\n${body}}}`,
      `const table = { async *long(call) {\n${body}} };`,
    ];
    for (const form of forms) {
      const worst = functionsIn(form).toSorted((one, other) => other.lines - one.lines)[0];
      expect([worst?.name, worst?.lines]).toEqual(["long", 82]);
    }
    const short = `function one() {\n${"  go();\n".repeat(40)}}\n`;
    const lines = functionsIn(`function createX() {\n${short.repeat(3)}return { one };\n}`).map(
      one => one.lines,
    );
    expect(Math.max(...lines)).toBe(42);
  });

  it(`a file has at most ${FILE_LINES_MAX} lines, tests too`, () => {
    const lengths = ALL.map(file => ({ path: file.path, lines: file.text.split("\n").length - 1 }));
    expect(lengths.filter(({ lines }) => lines > FILE_LINES_MAX)).toEqual([]);
  });

  it(`AGENTS.md has fewer than ${GUIDE_FOR_MACHINES_LINES_MAX} lines`, () => {
    expect(documentOf("AGENTS.md").text.split("\n").length).toBeLessThan(GUIDE_FOR_MACHINES_LINES_MAX);
  });
});

// ---- words ---------------------------------------------------------------------------------------------------

describe("words", () => {
  it.each(BANS)("src/ is free of $what: $instead", ban => {
    expect(violations(ban, SOURCES)).toEqual([]);
  });

  it("every exception is still needed", () => {
    expect(BANS.flatMap(ban => idleExceptions(ban, SOURCES))).toEqual([]);
  });

  it("no file has a name without meaning", () => {
    const names = ALL.map(file => file.path).filter(path =>
      /(?:^|[/.-])(?:manager|helpers?|utils?|service|impl|misc|common)(?=[/.-])/i.test(path),
    );
    expect(names).toEqual([]);
  });
});

// ---- documents in step with the code -------------------------------------------------------------------------

const page = (path: string) => documentOf(`docs/reference/${path}`);
const pick = (rows: readonly (readonly string[])[], ...columns: readonly number[]) =>
  rows.map(row => columns.map(at => row[at]));

describe("the reference matches the code", () => {
  it("faults.md has every fault with its error code in every dialect", () => {
    expect(rowsOf(sectionOf(page("faults.md"), "The catalogue"))).toEqual(tables.faultRows());
    expect(tableOf(sectionOf(page("faults.md"), "Numbers"))).toEqual(tables.numberRows());
  });

  it("config.md has every option with flag, variable, default, values and purpose", () => {
    expect(rowsOf(sectionOf(page("config.md"), "Options"))).toEqual(tables.optionRows());
    expect(rowsOf(sectionOf(page("config.md"), "Renamed options"))).toEqual(tables.renamedRows());
  });

  it("limits.md has every limit with its value and its option, and a reason", () => {
    const server = rowsOf(sectionOf(page("limits.md"), "The server"));
    const client = rowsOf(sectionOf(page("limits.md"), "Calls to other agents"));
    const cli = rowsOf(sectionOf(page("limits.md"), "The command line"));
    expect(pick(server, 0, 1, 2)).toEqual(tables.limitRows());
    expect(pick(client, 0, 1)).toEqual(tables.clientLimitRows());
    expect(pick(cli, 0, 1)).toEqual(tables.cliLimitRows());
    expect([...server, ...client, ...cli].filter(row => !row.at(-1))).toEqual([]);
  });

  it("observe.md has every metric; dashboard and alerts name them all, and no others", () => {
    const observe = documentOf("docs/operate/observe.md");
    const metrics = tables.metricRows();
    expect(rowsOf(sectionOf(observe, "Metrics")).filter(row => row.length === 4)).toEqual(metrics);
    const names = metrics.map(([name]) => (name as string).replaceAll("`", ""));
    const metricsIn = (file: string): readonly string[] =>
      readTree(`docs/operate/${file}`).text.match(/\bdragoman_[a-z_]+(?<!_bucket)(?=[^a-z_]|_bucket)/g) ?? [];
    const shown = metricsIn("dashboard.json");
    const used = [...shown, ...metricsIn("alerts.yml")];
    expect(used.filter(name => !names.includes(name))).toEqual([]);
    expect(names.filter(name => !shown.includes(name))).toEqual([]);
  });

  it("http.md has every route of every dialect", () => {
    expect(pick(rowsOf(sectionOf(page("http.md"), "Routes")), 0, 1, 2, 4)).toEqual(tables.routeRows());
  });

  it("operations.md has every operation with its methods", async () => {
    const rows = rowsOf(sectionOf(page("operations.md"), "The operations"));
    expect(rows.map(([name]) => name)).toEqual(tables.operations().map(name => `\`${name}\``));
    for (const [at, dialect] of tables.DIALECTS.entries()) {
      const methods = [...(await tables.methodsOf(dialect))];
      const documented = rows.flatMap(row => (row[2 + at] as string).match(/(?<=`)[^`]+(?=`)/g) ?? []);
      const asking = (name: string) => methods.filter(([, op]) => op === name).map(([method]) => method);
      expect(documented.filter(word => !word.includes(" "))).toEqual(tables.operations().flatMap(asking));
    }
  });

  it("each dialect has a page, with all its methods; each page has a dialect", async () => {
    const pages = DOCUMENTS.map(file => /^docs\/dialects\/(\w+)\.md$/.exec(file.path)?.[1]).filter(Boolean);
    expect(new Set(pages)).toEqual(new Set(["README", ...tables.DIALECTS.map(({ name }) => name)]));
    for (const dialect of tables.DIALECTS) {
      const methods = rowsOf(sectionOf(documentOf(`docs/dialects/${dialect.name}.md`), "Methods"));
      const known = [...(await tables.methodsOf(dialect))].map(([method, op]) => [
        `\`${method}\``,
        `\`${op}\``,
      ]);
      expect(pick(methods, 0, 1)).toEqual(known);
    }
  });

  it("cli.md has every command with its usage and its flags, and every exit code", async () => {
    const cli = page("cli.md");
    const documented = headingsOf(cli).flatMap(heading => heading.match(/(?<=`)\w+(?=`)/g) ?? []);
    const all = await tables.commands();
    expect(documented).toEqual(all.map(command => command.name()));
    for (const command of all) {
      const heading = headingsOf(cli).find(one => one.includes(`\`${command.name()}\``)) as string;
      const section = sectionOf(cli, heading);
      expect(section).toContain(tables.usageOf(command));
      expect(rowsOf(section)).toEqual(tables.flagRows(command));
    }
    expect(rowsOf(sectionOf(cli, "Exit codes")).map(([code]) => code)).toEqual(tables.exitCodes());
  });

  it("the guide for authors explains all of ctx, and no document names other members", () => {
    const members = tables.ctxMembers();
    const guide = documentOf("docs/guide/writing-agents.md").text;
    expect(members.filter(member => !guide.includes(`ctx.${member}`))).toEqual([]);
    const promised = DOCUMENTS.flatMap(file => file.text.match(/(?<=\bctx\.)\w+/g) ?? []);
    expect([...new Set(promised)].filter(member => !members.includes(member))).toEqual([]);
  });

  it("statements that tests prove are in docs/dialects, and every statement there is proved", () => {
    const pages = DOCUMENTS.map(file => file.path).filter(path => path.startsWith("docs/dialects/"));
    const stated = pages.flatMap(statementsOf);
    const proved = new Set(TREE.filter(file => file.path.startsWith("test/")).flatMap(provedIn));
    expect([...proved].filter(number => !stated.includes(number))).toEqual([]);
    expect(stated.filter(number => !/^[RD]/.test(number) && !proved.has(number))).toEqual([]);
  });

  it("citations of docs/dialects in the corpus, in tests and in comments exist", () => {
    expect(TREE.flatMap(brokenCitations)).toEqual([]);
    const unpublished = new RegExp(["wire", "notes|seed", "00\\d"].join(" "), "i");
    expect(TREE.filter(file => unpublished.test(file.text)).map(file => file.path)).toEqual([]);
  });
});

// ---- documents by themselves ---------------------------------------------------------------------------------

describe("documents", () => {
  it("links lead to existing files and headings", () => {
    expect(DOCUMENTS.flatMap(file => deadLinks(file).map(link => `${file.path}: ${link}`))).toEqual([]);
  });

  it("every document can be found from the README", () => {
    const found = new Set(["README.md"]);
    for (const path of found)
      for (const next of linkedFrom(documentOf(path)))
        if (DOCUMENTS.some(file => file.path === next)) found.add(next);
    expect(DOCUMENTS.map(file => file.path).filter(path => !found.has(path))).toEqual([]);
  });

  it("files that they name exist", () => {
    const paths = TREE.map(file => file.path);
    const isThere = (name: string) =>
      paths.some(path => path === name || path.startsWith(name.replace(/\/?$/, "/")));
    const missing = DOCUMENTS.flatMap(file =>
      namedFiles(file)
        .filter(name => !isThere(name))
        .map(name => `${file.path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("variables that they name exist", () => {
    // Those of the commands, in src/cli/terminal/target.ts, and those of the server.
    const known = [...OPTION_NAMES, ...Object.keys(RENAMED), "config", "url", "token"].map(envName);
    const named = DOCUMENTS.flatMap(file => file.text.match(/\bDRAGOMAN_[A-Z_]*[A-Z]\b/g) ?? []);
    expect([...new Set(named)].filter(name => !known.includes(name))).toEqual([]);
  });

  it("commands in them exist: scripts, files, commands and flags", async () => {
    const all = await tables.commands();
    const wrong = DOCUMENTS.flatMap(commandsIn).filter(typed => !isKnownCommand(typed, all));
    expect(wrong).toEqual([]);
  });

  it("CONTRIBUTING.md names every script", () => {
    const { text } = documentOf("CONTRIBUTING.md");
    const spelled = (name: string) => (/^(?:start|test)$/.test(name) ? `npm ${name}` : `npm run ${name}`);
    expect(Object.keys(SCRIPTS).filter(name => !text.includes(`\`${spelled(name)}`))).toEqual([]);
  });

  it("invariants are numbered without gaps, and each names its enforcement", () => {
    const rows = rowsOf(documentOf("INVARIANTS.md").text);
    expect(rows.map(([number]) => number)).toEqual(rows.map((_, at) => `I${at + 1}`));
    expect(rows.filter(row => !/`(?:src|test)\//.test(row[2] as string))).toEqual([]);
  });
});

// ---- the package ---------------------------------------------------------------------------------------------

describe("the package", () => {
  it("has exact versions", () => {
    const manifest = JSON.parse(readTree("package.json").text) as Record<string, Record<string, string>>;
    const versions = ["dependencies", "devDependencies", "overrides"].flatMap(kind =>
      Object.entries(manifest[kind] ?? {}),
    );
    expect(
      versions.filter(([, version]) => !/^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)),
    ).toEqual([]);
  });

  it("names no registry: the lock file has versions, not URLs", () => {
    expect(readTree("package-lock.json").text).not.toContain('"resolved"');
    expect(readTree(".npmrc").text).not.toMatch(/registry|token/i);
  });

  it("no file names a folder of one machine or the host of a registry", () => {
    const folders = new RegExp(`(?<![\\w.)}])/(?:${["work", "root"].join("|")})/`, "g");
    const hosts = new RegExp(["registry", "npmjs", "(?:org|com)"].join("\\."), "g");
    const found = TREE.flatMap(file => [
      ...placesOf(file, file.text, folders),
      ...placesOf(file, file.text, hosts),
    ]);
    expect(found).toEqual([]);
  });
});
