import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createReference, FOLDER } from "../scripts/api-reference.ts";

test("docs/reference/api is what `npm run reference` writes", () => {
  const pages = createReference();
  expect(readdirSync(FOLDER).toSorted()).toEqual([...pages.keys()].toSorted());
  const stale = [...pages].filter(([name, text]) => readFileSync(join(FOLDER, name), "utf8") !== text);
  expect(stale.map(([name]) => name)).toEqual([]);
});
