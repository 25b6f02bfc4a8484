/** The commands of the first pages that a newcomer reads. The other pages: test/judges/documents-shell.test.ts. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { BLOCKS, placeOf } from "../support/documents/blocks.ts";
import { createReader, type Reader } from "../support/documents/pages.ts";
import { commandsOf } from "../support/documents/shell.ts";

let reader: Reader;
beforeAll(async () => {
  reader = await createReader();
});
afterAll(() => reader.close());

it.concurrent.each(["README.md", "docs/guide/getting-started.md"])(
  "%s can be followed",
  path => reader.follow(path),
  600_000,
);

it("JSON and YAML can be parsed", () => {
  for (const block of BLOCKS)
    if (block.language === "json") expect(() => JSON.parse(block.text), placeOf(block)).not.toThrow();
    else if (block.language === "yaml")
      expect(
        [...parseAllDocuments(block.text)].flatMap(one => one.errors),
        placeOf(block),
      ).toEqual([]);
});

it("a block is cut into commands: continued lines are one, comments and empty lines none", () => {
  const text = "# first\n$ echo one \\\n  two # why\n\ncat <<END\n# three\nEND\ncurl -d '{\n}' x\n";
  expect(commandsOf(text)).toEqual(["echo one    two", "cat <<END\n# three\nEND", "curl -d '{\n}' x"]);
});
