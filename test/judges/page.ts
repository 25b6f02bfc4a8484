import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { build } from "rolldown";

/** The script of a page, with the packages that are installed in this folder. */
export async function bundle(folder: string, name: string, source: string): Promise<string> {
  const input = join(folder, `${name}.js`);
  writeFileSync(input, source);
  const { output } = await build({
    input,
    write: false,
    platform: "browser",
    logLevel: "silent",
    // A judge looks at what a page does, not at its style.
    plugins: [{ name: "no-css", load: id => (id.endsWith(".css") ? { code: "", moduleType: "js" } : null) }],
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    output: { format: "esm", codeSplitting: false },
  });
  return output[0].code;
}

/** A page of the server's own origin with this script, in an element `#root`. */
export async function openPage(browser: Browser, url: string, script: string): Promise<Page> {
  const page = await browser.newPage();
  // A test waits for an event: the limit only ends tests that hang.
  page.setDefaultTimeout(120_000);
  const html = `<!doctype html><meta charset="utf-8"><div id="root"></div><script type="module" src="/page.js"></script>`;
  await page.route("**/page.html", route => route.fulfill({ contentType: "text/html", body: html }));
  await page.route("**/page.js", route => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.goto(`${url}/page.html`);
  return page;
}
