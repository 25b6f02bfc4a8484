import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { VENDOR_DOCUMENTS } from "../support/statements/index.ts";
import { Probe } from "../support/statements/probe.ts";
import type { Statement } from "../support/statements/statement.ts";
import { countRow, differenceRows } from "../support/statements/table.ts";
import { documentOf, rowsOf, sectionOf } from "../support/tidy-docs.ts";
import { ROOT } from "../support/tidy-tree.ts";

/** Every statement of the vendors' documents, tried by default and in `strict`; docs/dialects/README.md counts them. */

describe.each([
  ["by default", "on"],
  ["in strict", "strict"],
] as const)("%s", (_name, profile) => {
  const probe = new Probe(profile);
  afterAll(() => probe.stop());

  for (const { name, sections } of VENDOR_DOCUMENTS)
    describe(name, () => {
      for (const { title, statements } of sections)
        for (const statement of statements)
          it(`${title}: ${statement[0]}`, () => tryStatement(statement, probe));
    });
});

/** A statement that is said to differ must differ: otherwise the list of differences is out of date. */
async function tryStatement([, proof, differs]: Statement, probe: Probe): Promise<void> {
  if (typeof proof !== "function") {
    const file = join(ROOT, proof.file);
    expect(existsSync(file) && readFileSync(file, "utf8")).toContain(proof.name);
    return;
  }
  const tried = async (): Promise<void> => void (await proof(probe));
  if (differs?.profiles.includes(probe.profile)) await expect(tried()).rejects.toThrow();
  else await tried();
}

describe("docs/dialects/README.md", () => {
  const rows = (heading: string) => rowsOf(sectionOf(documentOf("docs/dialects/README.md"), heading));

  it("counts the statements of each document", () => {
    expect(rows("Counts")).toEqual(VENDOR_DOCUMENTS.map(countRow));
  });

  it("names those that do not hold, with the reasons", () => {
    expect(rows("Statements that do not hold")).toEqual(VENDOR_DOCUMENTS.flatMap(differenceRows));
  });
});
