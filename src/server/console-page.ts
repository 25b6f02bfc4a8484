/** The page of the console: built files of the package; in a checkout they are built when they are first requested. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import type { Endpoint, EndpointRequest, EndpointResponse, Log } from "../ports/index.ts";
import { PACKAGE_FOLDER } from "./package-files.ts";

const BUILT = join(PACKAGE_FOLDER, "dist/console");
const SOURCES = join(PACKAGE_FOLDER, "console");
const BUNDLER = join(PACKAGE_FOLDER, "node_modules/vite/bin/vite.js");
const BUILD_MS_MAX = 120_000;

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
/** No inline script or style, no other origin; DOMPurify has the only trusted types policy that makes HTML. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dragoman dompurify",
].join("; ");
const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
const MISSING = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Dragoman</title><p>The console is not built. In a checkout, run <code>npm ci</code> and load this page again; the package on npm contains it.</p></html>`;

export function createConsolePage(log: Log): readonly Endpoint[] {
  const built = createBuild(log);
  const serve = async (call: EndpointRequest): Promise<EndpointResponse> => {
    const path = (call.target?.().url ?? "/console/").replace(/[?#].*$/, "");
    const below = path.slice(path.indexOf("/console") + "/console".length);
    if (!(await built())) return { status: 503, headers: PAGE_HEADERS, text: MISSING };
    return /^\/assets\/[\w.-]+$/.test(below) ? toAsset(below) : toPage(below);
  };
  const depths = ["", "/{a}", "/{a}/{b}", "/{a}/{b}/{c}", "/{a}/{b}/{c}/{d}"];
  return depths.map(below => ({ verb: "GET" as const, path: `/console${below}`, serve }));
}

/** The names of assets contain a digest of their content: they never change. */
function toAsset(below: string): EndpointResponse {
  try {
    const text = readFileSync(join(BUILT, below), "utf8");
    const type = TYPES[extname(below)] ?? "text/plain; charset=utf-8";
    const headers = { "Content-Type": type, "Cache-Control": "public, max-age=31536000, immutable" };
    return { status: 200, headers: { ...headers, "X-Content-Type-Options": "nosniff" }, text };
  } catch {
    return { status: 404, headers: { "Content-Type": "text/plain; charset=utf-8" }, text: "Not found" };
  }
}

/** The base is relative to the requested path, so that the page works below every prefix and behind every proxy. */
function toPage(below: string): EndpointResponse {
  const base =
    below === "" ? "console/" : below === "/" ? "./" : "../".repeat(below.split("/").length - 2) || "./";
  const html = readFileSync(join(BUILT, "index.html"), "utf8").replace(
    "<head>",
    `<head><base href="${base}">`,
  );
  return { status: 200, headers: PAGE_HEADERS, text: html };
}

const newestIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((newest, entry) => Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);

const timeOf = (read: () => number): number => {
  try {
    return read();
  } catch {
    return 0;
  }
};

/** true: there are files to serve. A process of its own builds them, so that no call waits for it but this one. */
function createBuild(log: Log): () => Promise<boolean> {
  let building: Promise<boolean> | undefined;
  const build = async (): Promise<boolean> => {
    const made = timeOf(() => statSync(join(BUILT, "index.html")).mtimeMs);
    const source = timeOf(() => newestIn(SOURCES));
    if (made > 0 && made >= source) return true;
    if (source === 0) return made > 0;
    try {
      const flags = [BUNDLER, "build", "-c", join(SOURCES, "vite.config.ts"), "--logLevel", "error"];
      await promisify(execFile)(process.execPath, flags, { cwd: PACKAGE_FOLDER, timeout: BUILD_MS_MAX });
      log.info({}, "console built");
      return true;
    } catch (error) {
      log.warn({ error }, "the console could not be built");
      return made > 0;
    }
  };
  return async () => {
    building ??= build();
    const isBuilt = await building;
    if (!isBuilt) building = undefined;
    return isBuilt;
  };
}
