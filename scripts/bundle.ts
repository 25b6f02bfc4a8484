/** Writes the code of `dist`: src, bundled, because a start reads sixty files faster than six hundred (docs/decisions/0041). */
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type CodeSplittingGroup, type Plugin, rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SRC = join(ROOT, "src");
/** `node scripts/bundle.ts FOLDER` writes another one of this name. */
const DIST = resolve(process.argv[2] ?? join(ROOT, "dist"));
const CHUNKS = "chunks";
/** In a clone, bin/dragoman.cjs starts the bundle only if each of these files has the content of then. */
const INPUTS_FILE = join(DIST, "inputs.json");
/** Read beside the code at run time. */
const BRIDGE = "runtime/langgraph/python/bridge.py";

/**
 * A module goes into the first of these files whose modules import it statically; what none of them needs is split by entries. The
 * first three run in browsers, too. The last two are what a command and a server load at their start.
 */
const CHUNK_ROOTS: Readonly<Record<string, readonly string[]>> = {
  client: ["client/index"],
  webhook: ["webhook/index"],
  react: ["react/index"],
  grpc: ["client/grpc/index"],
  agent: ["index"],
  jobs: [
    "store/sqlite/maintenance-thread",
    "store/sqlite/maintenance/backup",
    "store/sqlite/maintenance/check",
  ],
  program: ["cli/start", "cli/commands/call", "cli/terminal/session"],
  server: [
    "cli/commands/serve",
    "cli/serve/serve-agents",
    "cli/serve/load",
    "server/load-agents",
    "server/create-server",
    "telemetry/log",
  ],
};

type Inputs = Record<string, { readonly mtimeMs: number; readonly sha256: string }>;

const pathBelow = (folder: string, file: string): string => relative(folder, file).split(sep).join("/");

/** The time is taken before the content is read: the bundle is out of date if the file is changed meanwhile. */
function readInput(file: string, inputs: Inputs): string {
  const { mtimeMs } = statSync(file);
  const text = readFileSync(file, "utf8");
  inputs[pathBelow(ROOT, file)] = { mtimeMs, sha256: createHash("sha256").update(text).digest("hex") };
  return text;
}

/** The program and the modules of package.json, as paths below src without an extension. */
function listEntries(manifest: string): readonly string[] {
  const { exports } = JSON.parse(manifest) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const targets = Object.values(exports).flatMap(one => (typeof one === "string" ? [] : [one.default]));
  return ["cli/main", ...targets.map(target => target.replace(/^\.\/dist\/|\.js$/g, ""))];
}

/** Its value is the URL that the module would have without a bundle. */
const toUrl = (fileName: string): string =>
  `(import.meta.url.slice(0, import.meta.url.lastIndexOf("/dist/") + 6) + "${fileName}")`;

/** A module finds the files beside it by its own URL, which is not to be that of the chunk that contains it. */
const keepUrls = (inputs: Inputs): Plugin => ({
  name: "keep-urls",
  load(id) {
    if (!id.startsWith(SRC)) return null;
    const text = readInput(id, inputs);
    const fileName = pathBelow(SRC, id).replace(/\.ts$/, ".js");
    // A thread imports the module of its job by URL.
    if (/^serveJob\(/m.test(text)) this.emitFile({ type: "chunk", id, fileName });
    return text.replaceAll("import.meta.url", toUrl(fileName));
  },
});

/**
 * `import … from "node:crypto"` evaluates every export of the module, and one of them loads the Web's cryptography: 3 ms and 2 MiB
 * at each start. A property of the module evaluates no other.
 */
const CRYPTO = "node:crypto";
const CRYPTO_ID = `\0${CRYPTO}`;
const takeCryptoApart: Plugin = {
  name: "take-crypto-apart",
  resolveId: id => (id === CRYPTO ? CRYPTO_ID : null),
  load(id) {
    if (id !== CRYPTO_ID) return null;
    const exports = Object.keys(process.getBuiltinModule(CRYPTO)).map(
      name => `export const ${name} = found.${name};`,
    );
    return [`const found = process.getBuiltinModule("${CRYPTO}");`, ...exports].join("\n");
  },
};

const toGroups = (): CodeSplittingGroup[] =>
  Object.entries(CHUNK_ROOTS).map(([name, roots], index, { length }) => {
    // Throws if a module has another name by now.
    const files = new Set(roots.map(root => realpathSync(join(SRC, `${root}.ts`))));
    return { name, test: id => files.has(id), priority: length - index };
  });

/** V8 keeps a source text with one character beyond Latin-1 in two bytes for each character: 2 MiB more in a server. */
function escapeText(file: string): void {
  const toEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  writeFileSync(file, readFileSync(file, "utf8").replace(/[^\0-\x7f]/g, toEscape));
}

async function bundleInto(folder: string): Promise<Inputs> {
  const inputs: Inputs = {};
  readInput(fileURLToPath(import.meta.url), inputs);
  const entries = listEntries(readInput(join(ROOT, "package.json"), inputs));
  const build = await rolldown({
    cwd: ROOT,
    // Not "node": that puts an import of node:module into every chunk, also those of pages.
    platform: "neutral",
    input: Object.fromEntries(entries.map(name => [name, join(SRC, `${name}.ts`)])),
    external: id => !/^[.\0]/.test(id) && id !== CRYPTO && !isAbsolute(id),
    plugins: [keepUrls(inputs), takeCryptoApart],
    // Of two functions of node:crypto, only the one that is used.
    treeshake: { propertyReadSideEffects: false },
    // `import()` of a module that is loaded at every start.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.write({
    dir: folder,
    entryFileNames: "[name].js",
    codeSplitting: { groups: toGroups() },
    chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
    keepNames: true,
    sourcemap: true,
    comments: false,
  });
  await build.close();
  for (const { fileName } of output) if (fileName.endsWith(".js")) escapeText(join(folder, fileName));
  mkdirSync(dirname(join(folder, BRIDGE)), { recursive: true });
  writeFileSync(join(folder, BRIDGE), readInput(join(SRC, BRIDGE), inputs));
  return inputs;
}

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)));

/** A server that starts from the bundle meanwhile, or is packed, finds whole files: a chunk of another content has another name. */
function moveToDist(folder: string): void {
  const files = listFiles(folder);
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    renameSync(join(folder, file), join(DIST, file));
  }
  const current = new Set(files);
  for (const chunk of listFiles(join(DIST, CHUNKS)))
    if (!current.has(join(CHUNKS, chunk))) rmSync(join(DIST, CHUNKS, chunk), { force: true });
}

mkdirSync(dirname(DIST), { recursive: true });
const draft = mkdtempSync(`${DIST}-`);
try {
  const inputs = await bundleInto(draft);
  // Without the list, the bundle counts as out of date: so does one that was not finished.
  rmSync(INPUTS_FILE, { force: true });
  moveToDist(draft);
  writeFileSync(INPUTS_FILE, JSON.stringify(inputs));
} finally {
  rmSync(draft, { recursive: true, force: true });
}
