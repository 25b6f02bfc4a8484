import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildPages } from "../support/bundle.ts";
import { endChildren, startChild } from "../support/child.ts";
import { hasBrowser, launchBrowser } from "../support/console.ts";
import { BLOCKS } from "../support/documents/blocks.ts";
import { installInto, MODULES, writeBlock } from "../support/documents/project.ts";
import { EXAMPLES } from "../support/examples.ts";
import { servePages } from "../support/page-server.ts";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";

/** The page of docs/guide/react.md, built and opened as it stands. */

const folder = tempFolder();
afterAll(async () => {
  await endChildren();
  folder.remove();
});

const BLOCKS_OF_PAGE = BLOCKS.filter(
  ({ page, language }) => page === "docs/guide/react.md" && language === "tsx",
);

/** The files of the guide, with the address of a started server. */
function writePage(url: string): string {
  const own = join(folder.path, "page");
  mkdirSync(own);
  installInto(own);
  for (const { file, text } of BLOCKS_OF_PAGE)
    writeBlock(own, { file, text: text.replaceAll("http://127.0.0.1:2024", url) });
  writeFileSync(
    join(own, "index.html"),
    '<!doctype html><title>guide</title><link rel="icon" href="data:,"><body><script type="module" src="./main.tsx"></script></body>',
  );
  const compilerOptions = {
    ...{ strict: true, target: "es2024", lib: ["es2024", "dom", "dom.iterable"], module: "esnext" },
    ...{ moduleResolution: "bundler", jsx: "react-jsx", types: [], noEmit: true, skipLibCheck: true },
    ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true },
    paths: Object.fromEntries(
      Object.entries(MODULES).map(([name, file]) => [name.replace(".", "dragoman"), [join(ROOT, file)]]),
    ),
  };
  const files = BLOCKS_OF_PAGE.map(({ file }) => file);
  writeFileSync(join(own, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return own;
}

describe.skipIf(!hasBrowser)("the page of the guide", () => {
  it("passes tsc, and talks to an agent", async () => {
    const data = join(folder.path, "data");
    const server = await startChild({
      agents: [join(EXAMPLES, "booking.ts")],
      data,
      flags: ["--cors", "*", "--durability", "process"],
    });
    const own = writePage(server.url);
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", own], { stdio: "inherit" });
    const pages = await servePages(await buildPages(own));
    const browser = await launchBrowser();
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", error => errors.push(error.message));
    await page.goto(pages.url);
    const say = async (text: string): Promise<void> => {
      await page.locator("input").fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    };
    await say("A trip to Lisbon");
    await page.getByText("On which day would you like to go to Lisbon?").waitFor();
    await say("Friday");
    await page.getByText("Booked: Lisbon, friday.").waitFor();
    expect(errors).toEqual([]);
    await browser.close();
    pages.close();
  });
});
