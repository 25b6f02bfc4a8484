import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endChildren } from "../support/child.ts";
import { CALLS } from "./langgraph/calls.ts";
import { execute, listDifferences, type Variables } from "./langgraph/compare.ts";
import { KNOWN, OCCASIONAL } from "./langgraph/differences.ts";
import { CONVERSATIONS, converse } from "./langgraph/protocol-calls.ts";
import { installReference, type Pair, startPair } from "./langgraph/reference.ts";

/** The same calls to LangGraph's open JavaScript server and to this one: answers differ only as the document says. */

const installed = installReference();
const PAGE = readFileSync(new URL("../../docs/dialects/langgraph.md", import.meta.url), "utf8");

describe.skipIf(installed === undefined)("compared with @langchain/langgraph-api 1.5.1", () => {
  let pair: Pair;
  const [theirs, ours]: [Variables, Variables] = [{}, {}];
  const seen = new Set<string>();
  beforeAll(async () => {
    pair = await startPair(installed as string);
  });
  afterAll(async () => {
    await pair?.stop();
    await endChildren();
  });

  /** The lines that the document does not explain. */
  const listUnknown = (name: string, found: readonly string[]): readonly string[] =>
    found.filter(line => {
      const known = KNOWN.find(one => one.line.test(line) && (one.calls?.test(name) ?? true));
      if (known) seen.add(known.id);
      return !known;
    });

  test.each(CALLS)("$name", { timeout: 660_000 }, async call => {
    const reference = await execute(pair.theirs, call, theirs);
    const reply = await execute(pair.ours, call, ours);
    expect(listUnknown(call.name, listDifferences([reference, theirs], [reply, ours]))).toEqual([]);
  });

  test.each(CONVERSATIONS)("the streaming protocol: $name", async conversation => {
    const reference = await converse(pair.theirs, conversation);
    const reply = await converse(pair.ours, conversation);
    const found = listDifferences([reference, {}], [reply, {}]);
    expect(listUnknown(`protocol: ${conversation.name}`, found)).toEqual([]);
  });

  test("every known difference is still there, and explained", () => {
    const ids = [...new Set(KNOWN.map(one => one.id))];
    expect(ids.filter(id => id !== OCCASIONAL && !seen.has(id))).toEqual([]);
    expect(ids.filter(id => !PAGE.includes(`| ${id} |`))).toEqual([]);
  });
});
