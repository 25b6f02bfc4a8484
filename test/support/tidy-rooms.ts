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
  auth: INNER,
  bus: INNER,
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
    rooms: ["model", "ports", "transport"],
    libraries: ["@bufbuild/protobuf", "@bufbuild/protobuf/wkt", "@grpc/grpc-js", "node:stream"],
  },
  // What is told about the dialects: it knows their routes as data, and none of them.
  openapi: { ...INNER, libraries: ["node:crypto"] },
  // What all dialects share, and the list of them. A dialect never imports a sibling.
  dialect: { rooms: ["model", "ports", "dialect/*"] },
  "dialect/*": { rooms: ["model", "ports", "dialect"] },
  // What all stores of one process share. A store never imports a sibling either.
  "store/hot": INNER,
  "store/memory": { rooms: ["model", "ports", "store/hot"] },
  "store/sqlite": {
    rooms: ["model", "ports", "store/hot"],
    libraries: ["node:fs", "node:path", "node:sqlite", "node:url", "node:util", "node:worker_threads"],
  },
  telemetry: { ...INNER, libraries: ["node:util", "pino"] },
  // What authors of agents see: those who load agents and those who run them know it, too.
  agent: INNER,
  runtime: {
    rooms: ["model", "ports", "agent"],
    libraries: ["node:async_hooks"],
    lazily: ["runtime/langgraph", "runtime/ai-sdk", "runtime/openai", "runtime/process", "runtime/remote"],
  },
  // What makes agents of things that are not functions: each with its own library, loaded when it is asked for.
  "runtime/langgraph": { rooms: ["model", "ports", "agent", "runtime"] },
  "runtime/ai-sdk": { rooms: ["model", "ports", "agent", "runtime"] },
  "runtime/openai": { rooms: ["model", "ports", "agent", "runtime"] },
  "runtime/process": { rooms: ["model", "ports", "agent", "runtime"], libraries: ["node:child_process"] },
  "runtime/remote": { rooms: ["model", "ports", "agent", "runtime"] },
  config: { rooms: ["model", "agent"], libraries: ["node:*", "zod"] },
  index: { rooms: ["model", "ports", "agent", "config", "handler"] },
  // What lies beside the code.
  package: { rooms: [], libraries: ["node:fs"] },
  loadout: { rooms: ["model", "ports", "config", "runtime"] },
  // Authors of agents import it with everything else, and do not need the server.
  handler: { rooms: ["ports"], lazily: ["main", "config", "loadout", "telemetry"] },
  // The keys of the server: what it seals and signs with.
  keys: { ...INNER, libraries: ["node:crypto", "node:fs", "node:path"] },
  // Calls to others, and where they may not go.
  outbound: { ...INNER, libraries: ["node:dns", "node:net", "undici"] },
  compose: { rooms: ["*", "*/*"], libraries: ["node:crypto"] },
  main: { rooms: ["*", "*/*"], libraries: ["node:net"] },
  cli: {
    rooms: ["model", "ports", "package"],
    libraries: ["node:*", "commander"],
    lazily: ["main", "config", "loadout", "telemetry", "store/sqlite"],
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
