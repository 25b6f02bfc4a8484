import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bundle } from "../support/bundle.ts";
import { importsOf, readTree, toSource } from "../support/tidy-tree.ts";

/** `dragoman/client` in a page. */

const ENTRY = "src/client/index.ts";
const inTree = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

it("has at most 15 kB with all its protocols, and imports nothing", async () => {
  const { gzipBytes, imports } = await bundle(inTree(ENTRY));
  expect(imports).toEqual([]);
  expect(gzipBytes).toBeLessThanOrEqual(15_000);
});

it("dragoman/react adds less than 3 kB to it, and imports react alone", async () => {
  const client = await bundle(inTree(ENTRY), ["react"]);
  const both = await bundle(inTree("test/fixtures/react/client-and-react.ts"), ["react"]);
  expect(both.imports).toEqual(["react"]);
  expect(both.gzipBytes - client.gzipBytes).toBeLessThan(3_000);
});

it("needs nothing of Node, also unbundled", () => {
  const seen = new Set<string>([ENTRY]);
  const foreign: string[] = [];
  for (const path of seen) {
    const source = toSource(readTree(path));
    if (/\bBuffer\b|\bprocess\./.test(source.code)) foreign.push(`${path} uses Node`);
    for (const { from, how } of importsOf(source)) {
      if (how === "type") continue;
      if (from.startsWith(".")) seen.add(new URL(from, `file:///${path}`).pathname.slice(1));
      else foreign.push(`${path} imports ${from}`);
    }
  }
  expect(foreign).toEqual([]);
});
