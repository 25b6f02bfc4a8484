import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { rpc, sendParams } from "../support/client.ts";
import {
  CONSOLE_AGENTS,
  CONSOLE_VIEWS,
  hasBrowser,
  launchBrowser,
  openConsole,
  say,
} from "../support/console.ts";
import { taskOf } from "../support/wire.ts";

/** Names the controls that a mouse could use, and returns their names: what they say, and a number if several say it. */
const NAME_CONTROLS = `(() => {
  const times = new Map();
  return [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=tab], [role=option], tr[tabindex]")]
    .filter(one => !one.disabled && one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && one.getClientRects().length > 0 && !one.closest("[inert]"))
    .map(one => {
      const text = one.dataset.id ?? one.dataset.key ?? one.getAttribute("aria-label") ?? one.textContent.trim().slice(0, 60);
      // Times and counts that are shown change while the test runs.
      const said = text.replace(/\\b(now|[0-9.]+ (ms|s|min|h|d))\\b/g, "").replace(/[^A-Za-z .]/g, "");
      const name = one.tagName.toLowerCase() + " " + one.className + ": " + said;
      times.set(name, (times.get(name) ?? 0) + 1);
      return (one.dataset.control = name + " " + times.get(name));
    });
})()`;
/** The name of the control that has the focus, and whether its focus can be seen; null: none has it. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  // Or the box around a field, or the picture of a hidden one.
  const ring = [one, one.parentElement, one.parentElement?.parentElement, one.nextElementSibling].filter(Boolean)
    .some(box => { const style = getComputedStyle(box); return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none"; });
  return [one.dataset.control ?? "", ring];
})()`;
/** The groups in which arrows move the focus. */
const GROUP = "[role=tablist], [role=listbox], [role=grid], table, .evs";
const ARROWS = ["ArrowDown", "ArrowRight"] as const;
const NEXT_FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";

type Focused = readonly [string, boolean] | null;
const readFocus = (page: Page): Promise<Focused> => page.evaluate<Focused>(FOCUSED);

async function settle(page: Page): Promise<void> {
  await page.locator("main h1:visible, main h2:visible").first().waitFor();
  await expect.poll(() => page.locator(".bones").count()).toBe(0);
}

/** The controls of the page that the keyboard does not reach, or that do not show that they have the focus. */
async function problemsOf(page: Page): Promise<readonly string[]> {
  const controls = await page.evaluate<readonly string[]>(NAME_CONTROLS);
  const reached = new Set<string>();
  const problems = new Set<string>();
  const note = (focused: Focused): void => {
    if (!focused) return;
    const [name, isVisible] = focused;
    reached.add(name);
    if (!isVisible) problems.add(`no visible focus: ${name || "an area that scrolls"}`);
  };
  await page.evaluate("document.activeElement?.blur()");
  // Controls, areas that scroll, and the browser's own bar.
  for (let presses = 0; presses < controls.length + 40; presses++) {
    await page.keyboard.press("Tab");
    note(await readFocus(page));
  }
  // The last group first: an arrow in a list of tabs replaces what is below it.
  for (const name of controls.filter(one => reached.has(one)).toReversed()) {
    const control = `document.querySelector('[data-control="${name}"]')`;
    if (!(await page.evaluate<boolean>(`!!${control}?.closest("${GROUP}")`))) continue;
    for (const arrow of ARROWS) {
      await page.evaluate(`${control}?.focus()`);
      for (let presses = 0; presses < controls.length; presses++) {
        await page.keyboard.press(arrow);
        await page.evaluate(NEXT_FRAME);
        const focused = await readFocus(page);
        if (!focused || reached.has(focused[0])) break;
        note(focused);
      }
      // The arrows led around to the first tab, whose controls are new ones.
      await settle(page);
      await page.evaluate(NAME_CONTROLS);
    }
  }
  return [...problems, ...controls.filter(one => !reached.has(one)).map(one => `not reached: ${one}`)];
}

describe.skipIf(!hasBrowser)("the console without a mouse, motion or a screen", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-keyboard-"));
  let server: Child;
  let browser: Browser;
  let task = "";

  beforeAll(async () => {
    const flags = ["--durability", "process", "--log-level", "warn", "--drain-ms", "0"];
    server = await startChild({ agents: [CONSOLE_AGENTS], data: join(folder, "data"), flags });
    browser = await launchBrowser();
    const { body } = await rpc(`${server.url}/agents/words`, "SendMessage", sendParams("5 words"));
    task = taskOf(body).id;
    await rpc(`${server.url}/agents/asker`, "SendMessage", sendParams("several"));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it("every control of every view is reached with Tab and arrows, and shows its focus", async () => {
    const { page, context, open } = await openConsole(browser, server.url);
    const found: string[] = [];
    const views = [
      ...CONSOLE_VIEWS,
      `tasks/${task}`,
      `tasks/${task}?tab=events`,
      `tasks/${task}?tab=dialects`,
    ];
    for (const view of views) {
      await open(view);
      await settle(page);
      found.push(...(await problemsOf(page)).map(problem => `${view}: ${problem}`));
    }
    expect(found).toEqual([]);
    await context.close();
    // Some thousand keys: the limit only ends a test that hangs.
  }, 900_000);

  it("nothing moves for users who want no motion, also while an answer arrives", async () => {
    const { page, context, open } = await openConsole(browser, server.url);
    await page.emulateMedia({ reducedMotion: "reduce" });
    const moving = (): Promise<readonly string[]> =>
      page.evaluate<readonly string[]>(
        "document.getAnimations().filter(one => one.playState === 'running' && (one.effect?.getComputedTiming().activeDuration ?? 0) > 10).map(one => one.animationName ?? one.transitionProperty)",
      );
    for (const view of CONSOLE_VIEWS) {
      await open(view);
      await settle(page);
      expect(await moving(), view).toEqual([]);
    }
    await open("chat?agent=words");
    await say(page, "200 words");
    await page.locator(".said-main", { hasText: "word3" }).waitFor();
    expect(await moving()).toEqual([]);
    await page.locator(".said-foot").waitFor();
    await context.close();
  });

  it("a screen reader is told of answers, messages and connections, and has tables for charts", async () => {
    const { page, context, open } = await openConsole(browser, server.url);
    await open("chat?agent=words");
    await say(page, "3 words");
    await page.getByRole("log").getByText("word1 word2 word3").first().waitFor();
    await page.getByRole("log").getByText("Completed", { exact: false }).first().waitFor();
    await open("server");
    await settle(page);
    const charts = page.locator("figure, .chart");
    await charts.first().waitFor();
    expect(await page.locator("table.sr").count()).toBeGreaterThan(0);
    expect(await page.locator("[role=status], [aria-live]").count()).toBeGreaterThan(0);
    for (const landmark of ["banner", "navigation", "main"] as const)
      expect(await page.getByRole(landmark).count(), landmark).toBeGreaterThan(0);
    await context.close();
  });
});
