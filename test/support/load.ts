import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface LoadCase {
  /** Files, globs, folders, or agents as objects; their function is added. */
  readonly sources: readonly (string | object)[];
  readonly generation?: number;
  /** Files that are written before the case is loaded. */
  readonly write?: Readonly<Record<string, string>>;
}

export interface LoadOutcome {
  readonly agents: readonly { name: string; file?: string; description?: string; firstWord?: string }[];
  readonly files: readonly string[];
  readonly failure?: {
    readonly name: string;
    readonly file: string;
    readonly line?: number;
    readonly reason: string;
    readonly hint?: string;
    readonly message: string;
  };
}

export interface LoadRun {
  /** A folder outside of this repository, without installed packages. */
  readonly root: string;
  readonly outcomes: Readonly<Record<string, LoadOutcome>>;
  /** Warnings of Node. */
  readonly stderr: string;
  remove(): void;
}

const SCRIPT = `
import { writeFileSync } from "node:fs";
const [loader, runtime, cases] = process.argv.slice(2);
const { loadAgents } = await import(loader);
const { functionRuntime } = await import(runtime);
const message = { parts: [{ kind: "text", text: "hi" }] };
const notes = { findStep: async () => null, recordStep: async () => {}, now: () => 0 };
const turn = { task: { turn: 1, history: [] }, message, log: {}, newId: () => "id", ...notes };
const firstWord = async definition => {
  for await (const event of functionRuntime(definition).run(turn)) return event.artifact?.parts[0].text;
};
const load = async ({ sources, generation = 0, write = {} }) => {
  for (const [file, source] of Object.entries(write)) writeFileSync(file, source);
  const given = sources.map(one => (typeof one === "string" ? one : { run: () => "object", ...one }));
  const { agents, files } = await loadAgents(given, { cwd: process.cwd(), generation });
  const told = agents.map(async ({ definition, file }) => {
    const { name, description } = definition;
    return { name, description, file, firstWord: await firstWord(definition) };
  });
  return { agents: await Promise.all(told), files };
};
const outcomes = {};
for (const [name, one] of Object.entries(JSON.parse(cases))) {
  outcomes[name] = await load(one).catch(error => {
    const { name, file, line, reason, hint, message } = error;
    return { agents: [], files: [], failure: { name, file, line, reason, hint, message } };
  });
}
process.stdout.write(JSON.stringify(outcomes));
`;

/** Loads agents in a separate process: the loader of the test runner would interfere. */
export function loadInChild(
  files: Readonly<Record<string, string>>,
  cases: Readonly<Record<string, LoadCase>>,
): LoadRun {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-load-")));
  for (const [file, source] of Object.entries({ ...files, "run.mjs": SCRIPT })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), source);
  }
  const parts = ["loader/load-agents.ts", "runtime/function/index.ts"];
  const modules = parts.map(part => new URL(`../../src/${part}`, import.meta.url).href);
  const command = ["run.mjs", ...modules, JSON.stringify(cases)];
  const child = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  if (child.status !== 0) throw new Error(`the loading process failed: ${child.stderr}`);
  const remove = () => rmSync(root, { recursive: true });
  return { root, outcomes: JSON.parse(child.stdout), stderr: child.stderr, remove };
}
