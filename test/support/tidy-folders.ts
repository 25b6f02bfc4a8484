import { importsOf, type Source } from "./tidy-tree.ts";

interface Folder {
  /** Folders that it may import, besides itself; `*` stands for any name. */
  readonly folders: readonly string[];
  /** Libraries that it may import; none by default. */
  readonly libraries?: readonly string[];
  /** Folders that it may import only when they are needed (`await import`), for a quick start. */
  readonly lazily?: readonly string[];
}

const BASE = ["lib", "model", "ports"];
const INNER: Folder = { folders: BASE };

/** Which folder of `src` may import which: `lib` ← `model` ← `ports` ← the others ← `server` ← `cli`. */
export const FOLDERS: Readonly<Record<string, Folder>> = {
  lib: { folders: [] },
  model: { folders: ["lib"] },
  ports: { folders: ["lib", "model"] },
  agent: INNER,
  operation: INNER,
  runner: INNER,
  items: INNER,
  auth: { ...INNER, libraries: ["jose", "node:crypto"] },
  oauth: { ...INNER, libraries: ["node:crypto"] },
  keys: { ...INNER, libraries: ["node:child_process", "node:crypto", "node:fs", "node:path"] },
  // The canonical form of a card follows the schema of v1.0.
  signature: {
    folders: ["lib", "ports", "protocol/a2a-v1", "protocol/protobuf"],
    libraries: ["jose", "node:crypto"],
  },
  outbound: { ...INNER, libraries: ["node:dns", "node:dns/promises", "node:net", "undici"] },
  quotas: INNER,
  // What happened to a task, in words.
  timeline: { folders: ["lib", "model"] },
  // The admin API of the console.
  admin: {
    folders: [...BASE, "operation", "protocol/a2a-v1", "protocol/shared", "signature", "timeline"],
    libraries: ["node:timers/promises"],
  },
  push: { folders: [...BASE, "webhook"], libraries: ["node:crypto"] },
  // Receivers of webhooks import this alone.
  webhook: { folders: [], libraries: ["node:crypto"] },
  bus: { ...INNER, libraries: ["@nats-io/transport-node", "node:timers/promises", "pg"] },
  telemetry: {
    ...INNER,
    libraries: [
      "@opentelemetry/api",
      "@opentelemetry/context-async-hooks",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/exporter-trace-otlp-proto",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace",
      "node:fs",
      "node:perf_hooks",
      "node:util",
      "node:v8",
      "pino",
    ],
  },
  // Knows no binding: the router is given its bindings by the server.
  http: {
    folders: BASE,
    libraries: ["node:buffer", "node:fs", "node:http", "node:http2", "node:net", "node:stream", "node:tls"],
  },
  binding: { folders: [...BASE, "http"], libraries: ["node:crypto"] },
  // Loaded with the first connection that speaks gRPC.
  "binding/grpc": {
    folders: [...BASE, "http", "protocol/protobuf"],
    libraries: ["node:http2", "node:net", "node:stream", "node:util", "node:zlib"],
  },
  // The list of protocols.
  protocol: { folders: [...BASE, "protocol/*"] },
  "protocol/shared": INNER,
  // The engines over the schema of a protocol.
  "protocol/protobuf": { folders: ["lib", "model"], libraries: ["node:buffer"] },
  "protocol/openapi": { folders: ["lib", "ports", "protocol/protobuf"], libraries: ["node:crypto"] },
  "protocol/*": { folders: [...BASE, "protocol/*", "client"] },
  // For browsers as well: no library.
  client: { folders: [...BASE, "protocol/*"] },
  "client/grpc": {
    folders: ["lib", "model", "client", "protocol/a2a-v1", "protocol/a2a-v03", "protocol/protobuf"],
    libraries: ["@grpc/grpc-js"],
  },
  react: { folders: ["client"], libraries: ["react"] },
  "langgraph-api": { folders: [...BASE, "protocol/shared"] },
  mcp: {
    folders: [...BASE, "protocol/shared"],
    libraries: [
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/client/stdio",
      "@modelcontextprotocol/server",
    ],
  },
  // What the single-node stores and Postgres share.
  "store/kernel": { ...INNER, libraries: ["node:util"] },
  "store/single-node": { folders: [...BASE, "store/kernel"] },
  "store/memory": { folders: [...BASE, "store/kernel", "store/single-node"] },
  "store/sqlite": {
    folders: [...BASE, "store/kernel", "store/single-node"],
    libraries: ["node:fs", "node:module", "node:path", "node:sqlite", "node:url", "node:worker_threads"],
  },
  "store/postgres": {
    folders: [...BASE, "store/kernel"],
    libraries: ["node:timers/promises", "pg"],
  },
  // The list of runtimes: a runtime is one folder and one line there.
  runtime: {
    folders: ["agent"],
    lazily: ["runtime/langgraph", "runtime/ai-sdk", "runtime/openai", "runtime/process", "runtime/remote"],
  },
  // No runtime imports another runtime: common code is in shared and calls.
  "runtime/shared": { folders: [...BASE, "agent"], libraries: ["node:child_process"] },
  // Calls to other agents: ctx.call and the remote runtime.
  "runtime/calls": {
    folders: [...BASE, "agent", "client", "client/grpc", "runtime/shared"],
    libraries: ["node:timers/promises"],
  },
  "runtime/function": {
    folders: [...BASE, "agent", "runtime/shared"],
    libraries: ["node:async_hooks"],
    lazily: ["runtime/calls"],
  },
  "runtime/langgraph": {
    folders: [...BASE, "agent", "runtime/shared"],
    libraries: [
      ...[
        "@opentelemetry/api",
        "node:crypto",
        "node:fs",
        "node:module",
        "node:path",
        "node:url",
        "node:util",
      ],
    ],
  },
  "runtime/ai-sdk": { folders: [...BASE, "agent", "runtime/shared"] },
  "runtime/openai": {
    folders: [...BASE, "agent", "runtime/shared", "client"],
    libraries: ["node:timers/promises"],
  },
  "runtime/process": {
    folders: [...BASE, "agent", "runtime/shared"],
    libraries: ["node:path"],
  },
  "runtime/remote": { folders: [...BASE, "agent", "runtime/shared", "runtime/calls", "client"] },
  loader: { folders: ["lib", "model", "agent"], libraries: ["node:*"] },
  config: { folders: ["lib", "model", "agent", "loader", "config/options"], libraries: ["node:*", "zod"] },
  // The table of options, which every command reads at its start: without zod.
  "config/options": {
    folders: ["lib", "model", "agent"],
    libraries: ["node:net"],
    lazily: ["loader", "runtime"],
  },
  // Documents of other systems as a config.
  import: { folders: ["lib", "agent"], libraries: ["node:path", "yaml"] },
  // For stores of others.
  store: { folders: ["store/kernel", "store/memory", "store/single-node"] },
  // Tests of agents, and of parts of others: a whole server.
  testing: {
    folders: [
      ...BASE,
      "agent",
      "auth",
      "bus",
      "client",
      "operation",
      "runtime/function",
      "server",
      "store/*",
    ],
    libraries: ["node:*"],
  },
  // The one place that assembles the server.
  server: { folders: ["*", "*/*"], libraries: ["node:*"] },
  index: { folders: [...BASE, "agent", "config", "server"] },
  cli: {
    folders: [...BASE, "client", "client/grpc", "config/options", "server", "timeline"],
    libraries: ["node:*", "commander"],
    lazily: ["auth", "config", "import", "telemetry", "keys", "signature"],
  },
};

export const isLike = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll("*", "[^/]+")}$`).test(name);

/** `node:fs/promises` is one of `node:*`. */
const kindOf = (library: string): string => library.replace(/^node:.*/, "node:*");

/** The entry of the table for a folder. */
export const entryOf = (folder: string): string | undefined =>
  Object.keys(FOLDERS).find(pattern => isLike(pattern, folder));

/** `src/protocol/a2a-v1/decode.ts` is in `protocol/a2a-v1`, `src/cli/commands/call.ts` in `cli`, `src/index.ts` is `index`. */
export function folderOf(path: string): string {
  const [first, second, ...rest] = path
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .split("/");
  const inner = `${first}/${second}`;
  return rest.length > 0 && entryOf(inner) !== undefined ? inner : (first as string);
}

/** The imports of a file that the table does not allow. */
export const wrongImports = (file: Source): readonly string[] =>
  importsOf(file)
    .filter(({ from, how }) => !isAllowed(file, from, how))
    .map(({ from, line }) => `${file.path}:${line} (${folderOf(file.path)}) imports ${from}`);

function isAllowed(file: Source, from: string, how: "type" | "static" | "lazy"): boolean {
  const own = folderOf(file.path);
  const folder = FOLDERS[entryOf(own) ?? ""] ?? { folders: [] };
  if (!from.startsWith("."))
    return (folder.libraries ?? []).some(name => name === from || name === kindOf(from));
  const target = new URL(from, `file:///${file.path}`).pathname.slice(1);
  const wanted = folderOf(target);
  if (wanted === own) return true;
  // The one barrel: files inside the model may be moved.
  if (wanted === "model" && target !== "src/model/index.ts") return false;
  if (folder.folders.some(pattern => isLike(pattern, wanted))) return true;
  return how !== "static" && (folder.lazily ?? []).includes(wanted);
}
