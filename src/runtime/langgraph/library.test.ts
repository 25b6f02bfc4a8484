import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chain } from "../../../test/support/graph-turns.ts";
import { toDefinition } from "./definition.ts";
import { callingFile, findLibrary, loadLibrary } from "./library.ts";

const INSTALLED = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const OWN = realpathSync(join(INSTALLED, "@langchain/langgraph-checkpoint/package.json"));

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-library-")));
});
afterEach(() => rmSync(root, { recursive: true }));

/** `name` as a package that is only seen from `from`. */
function install(name: string, from: string): void {
  const at = join(root, from, "node_modules", name);
  mkdirSync(join(at, ".."), { recursive: true });
  symlinkSync(join(INSTALLED, name), at);
}

describe("LangGraph's base class of checkpointers", () => {
  test("is found from the file of the author, or its URL, and is the copy that graphs use", async () => {
    install("@langchain/langgraph", "app");
    const file = join(root, "app/src/agent.ts");
    expect(findLibrary([`file://${file}?generation=3`])).toBe(OWN);
    expect((await loadLibrary(findLibrary([file]))).BaseCheckpointSaver).toBe(BaseCheckpointSaver);
  });

  test("is found from the next file if it is not found from the first", () => {
    install("@langchain/langgraph", "app");
    expect(findLibrary([join(root, "elsewhere/x.ts"), join(root, "app/package.json")])).toBe(OWN);
  });

  test("is reported missing with the command that installs it, unless it is not needed", () => {
    const file = join(root, "agent.ts");
    const graph = chain({ a: () => ({}) });
    const cwd = process.cwd();
    process.chdir(root);
    try {
      const make = (source: never) => () => toDefinition(source, { name: "x" }, file);
      expect(make(graph.compile() as never)).toThrow(/npm install @langchain\/langgraph @langchain\/core/);
      expect(make(graph.compile({ checkpointer: false }) as never)).not.toThrow();
      expect(make((() => graph) as never)).not.toThrow();
    } finally {
      process.chdir(cwd);
    }
  });
});

test("the calling file is outside of this folder", () => {
  expect(callingFile()).toContain("/vitest/");
});
