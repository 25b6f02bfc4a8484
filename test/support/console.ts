/** A browser with the console of a server, for its judges. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
export const hasBrowser = BROWSER !== undefined;
if (!hasBrowser)
  process.stderr.write(
    "\n*** There is no Chromium on this machine: the console is NOT tested in a browser ***\n\n",
  );

export const CONSOLE_AGENTS = new URL("../fixtures/console/agents.ts", import.meta.url).pathname;

/** Every view that needs no task. */
export const CONSOLE_VIEWS = [
  "chat",
  "tasks",
  "inbox",
  "agents",
  "agents/words",
  "agents/words?tab=connect",
  "agents/words?tab=facts",
  "deliveries",
  "server",
  "server?tab=limits",
  "server?tab=config",
  "server?tab=log",
  "docs",
  "docs/guide/push.md",
];

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: BROWSER as string,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
    ],
  });

export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, and what the browser's policy refused. */
  readonly complaints: string[];
  /** Requests to other origins. */
  readonly foreign: string[];
  /** Opens a view: `tasks?state=failed`. */
  open(path: string): Promise<void>;
}

export interface PageOptions {
  readonly theme?: "light" | "dark";
  readonly isPhone?: boolean;
  readonly token?: string;
}

export async function openConsole(
  browser: Browser,
  url: string,
  options: PageOptions = {},
): Promise<ConsolePage> {
  const { theme = "light", isPhone = false, token } = options;
  const viewport = isPhone ? { width: 390, height: 844 } : { width: 1440, height: 900 };
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    hasTouch: isPhone,
    isMobile: isPhone,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(url).origin });
  if (token) await context.addInitScript(value => sessionStorage.setItem("dragoman-token", value), token);
  const page = await context.newPage();
  // A test waits for an event: the limit only ends tests that hang.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on("pageerror", error => complaints.push(error.message));
  page.on("console", message => {
    // A refused or lost connection is what some judges are about.
    if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("request", request => {
    if (/^https?:/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin)
      foreign.push(request.url());
  });
  const open = async (path: string): Promise<void> => {
    await page.goto(`${url}/console/${path}`);
    await page.locator("main").waitFor();
  };
  return { page, context, complaints, foreign, open };
}

/** Writes a message in the chat and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  const field = page.locator(".composer textarea").last();
  await field.fill(text);
  await field.press("Enter");
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** What axe finds on the page: one line for each element. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  // The page's policy forbids eval and script elements: axe runs in the world of the debugger.
  await page.evaluate(AXE);
  const found = await page.evaluate<readonly Violation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(result => result.violations)",
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(node => `${id}: ${help}: ${node.target.join(" ")}: ${node.failureSummary ?? ""}`.slice(0, 400)),
  );
}
