import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Rolldown } from "vite";

/** A module of `src` as the bundler of the console bundles it for a page. */
export interface Bundle {
  readonly code: string;
  readonly gzipBytes: number;
  /** What it imports that is not in the bundle. */
  readonly imports: readonly string[];
}

/** The pages of a folder with an `index.html`, by path. */
export async function buildPages(root: string): Promise<ReadonlyMap<string, string>> {
  const { output } = (await build({
    root,
    configFile: false,
    logLevel: "error",
    resolve: { alias: ALIASES },
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  return new Map(
    output.map(file => [
      `/${file.fileName}`,
      file.type === "chunk" ? file.code : new TextDecoder().decode(toBytes(file.source)),
    ]),
  );
}
const toBytes = (source: string | Uint8Array): Uint8Array =>
  typeof source === "string" ? new TextEncoder().encode(source) : source;

/** `external`: modules that the page has anyway. */
export async function bundle(entry: string, external: readonly string[] = []): Promise<Bundle> {
  const result = (await build({
    configFile: false,
    logLevel: "error",
    resolve: { alias: ALIASES.filter(({ find }) => !external.includes(find)) },
    build: {
      write: false,
      target: "esnext",
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: entry,
        external: [...external],
        preserveEntrySignatures: "strict",
        output: { format: "es", minify: true, comments: false },
      },
    },
  })) as Rolldown.RolldownOutput;
  const [chunk, ...others] = result.output;
  if (others.length > 0) throw new Error(`more than one file: ${others.map(({ fileName }) => fileName)}`);
  const { code } = chunk;
  return { code, gzipBytes: gzipSync(code, { level: 9 }).length, imports: chunk.imports };
}

const inSources = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
const ALIASES = [
  { find: "dragoman/client", replacement: inSources("client/index.ts") },
  { find: "dragoman/react", replacement: inSources("react/index.ts") },
];
