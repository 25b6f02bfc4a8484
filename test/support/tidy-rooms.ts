import { importsOf, type Source } from "./tidy-tree.ts";

interface Room {
  /** Rooms that it may import, besides itself; `*` stands for any name. */
  readonly rooms: readonly string[];
  /** Libraries that it may import: none, if nothing is said. */
  readonly libraries?: readonly string[];
  /** Rooms that it may import only when it comes to that (`await import`), so that a start stays quick. */
  readonly lazily?: readonly string[];
}

const INNER: Room = { rooms: ["model", "ports"] };

/** Who may know whom: `model` ← `ports` ← rooms ← `main` ← `cli`. A folder that is not here is not in the house. */
export const ROOMS: Readonly<Record<string, Room>> = {
  model: { rooms: [] },
  ports: { rooms: ["model"] },
  frames: INNER,
  pipeline: { rooms: ["model", "ports", "frames"] },
  catalog: { ...INNER, libraries: ["node:crypto"] },
  core: INNER,
  runner: INNER,
  auth: { ...INNER, libraries: ["jose", "node:crypto"] },
  bus: { ...INNER, libraries: ["@nats-io/transport-node", "node:timers/promises", "pg"] },
  transport: {
    ...INNER,
    libraries: [
      "node:buffer",
      "node:crypto",
      "node:fs",
      "node:http",
      "node:http2",
      "node:net",
      "node:stream",
      "node:tls",
    ],
    lazily: ["transport/grpc"],
  },
  // Loaded with the first connection that speaks it.
  "transport/grpc": {
    rooms: ["model", "ports", "transport", "protobuf"],
    libraries: ["node:http2", "node:stream", "node:util", "node:zlib"],
  },
  // What is told about the dialects: it knows their routes as data, and none of them.
  openapi: { ...INNER, libraries: ["node:crypto"] },
  // From tables of fields to bytes and back: for those who serve gRPC and those who call it.
  protobuf: { rooms: ["model"], libraries: ["node:buffer"] },
  // Agents somewhere else: how they are called, in any dialect.
  client: { ...INNER, lazily: ["client/grpc"] },
  "client/grpc": {
    rooms: ["model", "ports", "client", "protobuf", "dialect/v1", "dialect/v03"],
    libraries: ["@grpc/grpc-js"],
  },
  // What all dialects share, and the list of them. A dialect never imports a sibling.
  dialect: { rooms: ["model", "ports", "dialect/*"] },
  "dialect/*": { rooms: ["model", "ports", "dialect"] },
  // What all stores of one process share. A store never imports a sibling either.
  "store/hot": INNER,
  "store/memory": { rooms: ["model", "ports", "store/hot"] },
  // How tasks and events look in the rows of a database.
  "store/rows": { rooms: ["model", "ports", "store/hot"], libraries: ["node:util"] },
  "store/postgres": {
    rooms: ["model", "ports", "store/hot", "store/rows"],
    libraries: ["node:timers", "node:timers/promises", "pg"],
  },
  "store/sqlite": {
    rooms: ["model", "ports", "store/hot", "store/rows"],
    libraries: ["node:fs", "node:path", "node:sqlite", "node:url", "node:util", "node:worker_threads"],
  },
  telemetry: {
    ...INNER,
    libraries: [
      "@opentelemetry/api",
      "@opentelemetry/context-async-hooks",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/exporter-trace-otlp-proto",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace",
      "node:util",
      "pino",
      "prom-client",
    ],
  },
  // Whether the server is well.
  health: INNER,
  // What authors of agents see: those who load agents and those who run them know it, too.
  agent: INNER,
  runtime: {
    rooms: ["model", "ports", "agent"],
    libraries: ["node:async_hooks"],
    lazily: ["runtime/langgraph", "runtime/ai-sdk", "runtime/openai", "runtime/process", "runtime/remote"],
  },
  // What makes agents of things that are not functions: each with its own library, loaded when it is asked for.
  "runtime/langgraph": {
    rooms: ["model", "ports", "agent", "runtime"],
    libraries: ["node:crypto", "node:fs", "node:module", "node:path", "node:url", "node:util"],
  },
  "runtime/ai-sdk": { rooms: ["model", "ports", "agent", "runtime"] },
  "runtime/openai": {
    rooms: ["model", "ports", "agent", "runtime", "client"],
    libraries: ["node:timers/promises"],
  },
  "runtime/process": {
    rooms: ["model", "ports", "agent", "runtime"],
    libraries: ["node:child_process", "node:path"],
  },
  "runtime/remote": {
    rooms: ["model", "ports", "agent", "runtime", "client"],
    libraries: ["node:timers/promises"],
  },
  config: { rooms: ["model", "agent"], libraries: ["node:*", "zod"] },
  index: { rooms: ["model", "ports", "agent", "config", "handler"] },
  // What lies beside the code.
  package: { rooms: [], libraries: ["node:fs"] },
  loadout: { rooms: ["model", "ports", "agent", "config", "runtime"], libraries: ["node:path"] },
  // Authors of agents import it with everything else, and do not need the server.
  handler: { rooms: ["ports"], lazily: ["main", "config", "loadout", "telemetry"] },
  // What whoever runs the server asks of it.
  operate: { rooms: ["ports", "auth", "health", "telemetry", "transport"] },
  // Who may have how much.
  limits: INNER,
  // Who may come in, as the settings say it.
  admission: {
    rooms: ["model", "ports", "auth", "operate", "store/memory", "store/sqlite", "transport"],
  },
  // How agents get what they need to act for their callers elsewhere.
  authorize: { rooms: ["model", "ports", "auth", "core", "credentials"] },
  // The keys of the server: what it seals and signs with.
  keys: { ...INNER, libraries: ["node:child_process", "node:crypto", "node:fs", "node:path"] },
  // What callers gave to agents, so that these can act for them elsewhere.
  credentials: { ...INNER, libraries: ["node:crypto"] },
  // Cards that can be proved to be ours, and whether those of others are theirs.
  signature: { ...INNER, libraries: ["jose"] },
  // Deliveries to webhooks.
  push: { rooms: ["model", "ports", "webhook"], libraries: ["node:crypto"] },
  // What receivers of them see: they need nothing of the server.
  webhook: { rooms: [], libraries: ["node:crypto"] },
  // Libraries that not everybody has.
  peer: { rooms: [] },
  // The Model Context Protocol, both ways.
  mcp: {
    // The readers of the dialects: what comes in as a call of a tool is checked as everywhere else.
    rooms: ["model", "ports", "peer", "dialect"],
    libraries: [
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/client/stdio",
      "@modelcontextprotocol/server",
    ],
  },
  // Whom agents call, and who calls agents as tools.
  peers: { rooms: ["ports", "catalog", "mcp", "operate", "peer", "runner"] },
  // Calls to others, and where they may not go.
  outbound: { ...INNER, libraries: ["node:dns", "node:dns/promises", "node:net", "undici"] },
  // What the server is given: time and chance.
  world: { ...INNER, libraries: ["node:crypto"] },
  // Where everything is kept.
  storage: { rooms: ["*", "*/*"] },
  foundation: { rooms: ["*", "*/*"], libraries: ["node:crypto"] },
  workers: { rooms: ["*", "*/*"] },
  compose: { rooms: ["*", "*/*"] },
  main: { rooms: ["*", "*/*"], libraries: ["node:net"] },
  cli: {
    rooms: ["model", "ports", "package", "peer", "client"],
    libraries: ["node:*", "commander"],
    lazily: [
      "auth",
      "main",
      "config",
      "loadout",
      "telemetry",
      "store/sqlite",
      "store/postgres",
      "store/postgres",
      "keys",
      "signature",
    ],
  },
};

const isLike = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll("*", "[^/]+")}$`).test(name);

/** `node:fs/promises` is one of `node:*`. */
const kindOf = (library: string): string => library.replace(/^node:.*/, "node:*");

/** The entry of the table for a room. */
export const entryOf = (room: string): string | undefined =>
  Object.keys(ROOMS).find(pattern => isLike(pattern, room));

/** `src/dialect/v1/read.ts` is in `dialect/v1`, `src/runtime/function/ctx.ts` in `runtime`, `src/pipeline.ts` is `pipeline`. */
export function roomOf(path: string): string {
  const [first, second, ...rest] = path
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .split("/");
  const inner = `${first}/${second}`;
  return rest.length > 0 && entryOf(inner) !== undefined ? inner : (first as string);
}

/** What a file imports against the table. */
export const wrongImports = (file: Source): readonly string[] =>
  importsOf(file)
    .filter(({ from, how }) => !isAllowed(file, from, how))
    .map(({ from, line }) => `${file.path}:${line} (${roomOf(file.path)}) imports ${from}`);

function isAllowed(file: Source, from: string, how: "type" | "static" | "lazy"): boolean {
  const own = roomOf(file.path);
  const room = ROOMS[entryOf(own) ?? ""] ?? { rooms: [] };
  if (!from.startsWith("."))
    return (room.libraries ?? []).some(name => name === from || name === kindOf(from));
  const target = new URL(from, `file:///${file.path}`).pathname.slice(1);
  const wanted = roomOf(target);
  if (wanted === own) return true;
  // The one barrel: what is inside the model may be moved about.
  if (wanted === "model" && target !== "src/model/index.ts") return false;
  if (room.rooms.some(pattern => isLike(pattern, wanted))) return true;
  return how !== "static" && (room.lazily ?? []).includes(wanted);
}
