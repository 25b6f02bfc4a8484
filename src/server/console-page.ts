/** The page of the console: prebuilt in the package, built on demand in a checkout. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { Endpoint, EndpointRequest, EndpointResponse, Log } from "../ports/index.ts";
import { PACKAGE_FOLDER } from "./package-files.ts";

const SOURCES = join(PACKAGE_FOLDER, "console");
const BUILT = join(PACKAGE_FOLDER, "dist", "console");
const CACHE = join(PACKAGE_FOLDER, "node_modules", ".cache", "dragoman-console");
const BUILD_MS_MAX = 120_000;

type FilesByName = ReadonlyMap<string, Buffer>;

/** The paths of views have at most so many segments. */
const SEGMENTS = ["{a}", "{b}", "{c}", "{d}", "{e}"];
const ASSETS = "assets/";

export function createConsolePage(log: Log): readonly Endpoint[] {
  let loading: Promise<FilesByName | undefined> | undefined;
  const encoded = new Map<string, Promise<Buffer>>();

  /** A failed build is tried again with the next request. */
  function load(): Promise<FilesByName | undefined> {
    loading ??= loadFiles().catch(error => {
      loading = undefined;
      log.warn({ err: error }, "the console could not be built");
      return undefined;
    });
    return loading;
  }

  async function serve(call: EndpointRequest): Promise<EndpointResponse> {
    const path = call.target?.().url.split("?", 1)[0] ?? "/console/";
    if (path === "/console") return redirect("console/");
    const name = path.replace(/^\/console\//, "");
    const files = await load();
    const index = files?.get("index.html");
    if (!files || !index) return toPage(NOT_BUILT, 503);
    const file = files.get(name);
    if (file && name !== "index.html") return sendFile(call, name, file, encoded);
    if (name.startsWith(ASSETS)) return { status: 404, headers: {}, text: JSON.stringify(NOT_FOUND) };
    return toPage(withBase(index.toString("utf8"), name), 200);
  }

  const paths = SEGMENTS.map((_, i) => `/console/${SEGMENTS.slice(0, i + 1).join("/")}`);
  return ["/console", ...paths].map(path => ({ verb: "GET", path, serve }));
}

const NOT_FOUND = { error: { code: 404, status: "NOT_FOUND", message: "Not found" } };

const redirect = (location: string): EndpointResponse => ({
  status: 308,
  headers: { Location: location },
  text: "{}",
});

/** A relative URL: the page works below any path, behind any proxy. */
function withBase(page: string, name: string): string {
  const depth = name.split("/").length - 1;
  return page.replace("<head>", `<head><base href="${"../".repeat(depth) || "./"}">`);
}

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

const SAFE = { "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer" };

const toPage = (text: string, status: number): EndpointResponse => ({
  status,
  headers: {
    ...SAFE,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
  },
  text,
});

const NOT_BUILT = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Dragoman</title></head><body>
<h1>The console is not built</h1>
<p>In a checkout, run <code>npm ci</code> and load this page again; the log of the server says why a build failed.
The npm package contains the console. The API works without it: see <a href="../openapi.json">openapi.json</a>.</p></body></html>`;

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json",
  woff2: "font/woff2",
  png: "image/png",
};

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

async function sendFile(
  { headers }: EndpointRequest,
  name: string,
  file: Buffer,
  encoded: Map<string, Promise<Buffer>>,
): Promise<EndpointResponse> {
  const accepted = headers["accept-encoding"] ?? "";
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined;
  const key = `${encoding} ${name}`;
  if (encoding && !encoded.has(key))
    encoded.set(key, encoding === "br" ? compressBrotli(file) : compressGzip(file));
  return {
    status: 200,
    headers: {
      ...SAFE,
      "Content-Type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
      // Hashed names: the content of a name never changes.
      "Cache-Control": name.startsWith(ASSETS) ? "public, max-age=31536000, immutable" : "no-cache",
      Vary: "Accept-Encoding",
      ...(encoding && { "Content-Encoding": encoding }),
    },
    text: (encoding && (await encoded.get(key))) || file,
  };
}

// ---- files -------------------------------------------------------------------------------------------------------

/** undefined: there is neither a built console nor what builds one. */
async function loadFiles(): Promise<FilesByName | undefined> {
  if (existsSync(join(SOURCES, "vite.config.ts"))) return readFiles(await build());
  return existsSync(join(BUILT, "index.html")) ? readFiles(BUILT) : undefined;
}

async function readFiles(folder: string): Promise<FilesByName> {
  const names = await listFiles(folder);
  return new Map(
    await Promise.all(names.map(async name => [name, await readFile(join(folder, name))] as const)),
  );
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

/** In a process of its own, so that calls do not wait; once for each content of the sources. */
async function build(): Promise<string> {
  const target = join(CACHE, await hashSources());
  if (existsSync(join(target, "index.html"))) return target;
  const vite = createRequire(import.meta.url).resolve("vite/package.json");
  const draft = `${target}.${process.pid}`;
  await mkdir(CACHE, { recursive: true });
  const words = [
    "build",
    "--config",
    join(SOURCES, "vite.config.ts"),
    "--outDir",
    draft,
    "--logLevel",
    "error",
  ];
  await promisify(execFile)(process.execPath, [join(dirname(vite), "bin", "vite.js"), ...words], {
    cwd: SOURCES,
    timeout: BUILD_MS_MAX,
  });
  // Another process may have been faster.
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }));
  return target;
}

async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of await listFiles(SOURCES))
    hash.update(`${name}\n`).update(await readFile(join(SOURCES, name)));
  return hash.digest("hex").slice(0, 16);
}
