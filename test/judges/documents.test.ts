/** The TypeScript of the documents is type-checked, loaded, served and called, as it stands. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { readSettings } from "../../src/config/config.ts";
import { loadServedAgents } from "../../src/server/load-agents.ts";
import { endChildren, startChild } from "../support/child.ts";
import { rpc, sendParams } from "../support/client.ts";
import {
  BLOCKS,
  type Block,
  isAgent,
  isConfig,
  isProgram,
  isRun,
  placeOf,
} from "../support/documents/blocks.ts";
import { variablesIn } from "../support/documents/pages.ts";
import { PROGRAMS } from "../support/documents/program-checks.ts";
import { installInto, writeAlone, writeBlock } from "../support/documents/project.ts";
import { typeErrors } from "../support/documents/types.ts";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";

const folders: ReturnType<typeof tempFolder>[] = [];
const newFolder = (): string => {
  const folder = tempFolder();
  folders.push(folder);
  return folder.path;
};
afterEach(() => {
  vi.unstubAllEnvs();
  return endChildren();
});
afterAll(() => {
  for (const folder of folders) folder.remove();
});

/** Executed, parsed, or run by the test of their page; text is what a program prints. */
const LANGUAGES = ["ts", "sh", "json", "yaml", "python", "nginx", "caddyfile", "text"];

it("every block has a language that a test understands, or says why it is not run", () => {
  const unknown = BLOCKS.filter(({ language }) => !LANGUAGES.includes(language));
  expect(unknown.filter(isRun).map(placeOf)).toEqual([]);
});

it("blocks that another test checks name an existing one", () => {
  const named = BLOCKS.flatMap(({ note }) => (note?.kind === "checked in" ? [note.reason] : []));
  expect(named.filter(file => !existsSync(join(ROOT, file)))).toEqual([]);
});

it("TypeScript passes tsc --strict", async () => {
  expect(await typeErrors(newFolder(), BLOCKS)).toEqual([]);
});

/** An agent for pages that serve `agents/*.ts` and show none. */
const HELLO = "export default (task: { text: string }) => task.text;\n";

function write(folder: string, block: Block): string {
  const page = BLOCKS.filter(one => one.page === block.page);
  if (!page.some(isAgent)) writeBlock(folder, { file: "agents/hello.ts", text: HELLO });
  return writeAlone(folder, block, page);
}

function stubVariables(blocks: readonly Block[]): void {
  for (const [name, value] of Object.entries(variablesIn(blocks))) vi.stubEnv(name, value);
}

describe("configs", () => {
  it.each(BLOCKS.filter(isConfig).map(block => [placeOf(block), block] as const))(
    "%s is loaded",
    async (_, block) => {
      const folder = newFolder();
      installInto(folder);
      stubVariables([block]);
      write(folder, block);
      const settings = await readSettings({ cwd: folder, env: {} });
      expect(settings.warnings).toEqual([]);
      expect((await loadServedAgents(settings, 0)).agents.length).toBeGreaterThan(0);
    },
  );
});

describe("agents", () => {
  /** One server for agents whose names differ. */
  const groups: Block[][] = [];
  for (const block of BLOCKS.filter(isAgent)) {
    const group = groups.find(one => one.every(other => nameOf(other) !== nameOf(block)));
    if (group) group.push(block);
    else groups.push([block]);
  }
  it.each(groups.map((group, at) => [at + 1, group] as const))("of group %i answer", async (_, group) => {
    const folder = newFolder();
    installInto(folder);
    stubVariables(group);
    const files = group.map((block, at) => write(join(folder, String(at)), block));
    const flags = ["--durability", "process"];
    const server = await startChild({ agents: files, data: join(folder, "data"), flags });
    const left = group.filter(block => block.note?.kind === "not called");
    const isCalled = (name: string) => !left.some(block => block.text.includes(`name: "${name}"`));
    const names = (server.banner.agents as { name: string }[]).map(({ name }) => name).filter(isCalled);
    const states = await Promise.all(names.map(async name => [name, await stateOf(server.url, name)]));
    expect(
      states.filter(([, state]) => !/^(?:message|completed|(?:input|auth)-required)$/.test(state as string)),
    ).toEqual([]);
  });
});

/** `agents/hello.ts` is the agent hello. */
const nameOf = ({ file }: Block): string => basename(file as string, ".ts");

/** The data for agents that take no other. */
const INPUTS: Readonly<Record<string, object>> = {
  weather: { city: "Rome" },
  alarm: { at: "2027-01-01T07:00:00Z" },
  trip: { from: "Rome", to: "Oslo" },
};

async function stateOf(url: string, name: string): Promise<string> {
  const parts = name in INPUTS ? { parts: [{ data: INPUTS[name] }] } : {};
  const { body } = await rpc(`${url}/agents/${name}`, "SendMessage", sendParams("Ada", parts));
  if (body.error) return JSON.stringify(body.error);
  const state: string = body.result.task?.status.state ?? "message";
  return state.replace("TASK_STATE_", "").replaceAll("_", "-").toLowerCase();
}

describe("programs", () => {
  const programs = BLOCKS.filter(block => isProgram(block) && isRun(block));
  const keyOf = ({ page, section, file }: Block): string => `${page}#${file ?? section}`;

  it("each has a check, and each check a program", () => {
    expect(programs.map(keyOf).sort()).toEqual(Object.keys(PROGRAMS).sort());
  });
  it.each(programs.map(block => [keyOf(block), block] as const))("%s works", async (key, block) => {
    const folder = newFolder();
    installInto(folder);
    await PROGRAMS[key]?.({ folder, block, write: changed => write(folder, changed ?? block) });
  });
});
