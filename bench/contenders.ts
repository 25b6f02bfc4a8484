import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Wire } from "./load/order.ts";

/** The servers that are compared. Each pair of the report uses the same wire and runs the same agent. */
export type ContenderId =
  | "power"
  | "process"
  | "silent"
  | "traced"
  | "postgres"
  | "v11"
  | "mcp"
  | "push"
  | "paced"
  | "official13"
  | "official03"
  | "bare";

export interface Contender {
  label: string;
  wire: Wire;
  /** Its traces are collected, and discarded. */
  traced?: true;
  /** Its tasks are stored in a separate Postgres database. */
  postgres?: true;
  /** Arguments to Node. `data`: an empty folder that is removed afterwards, or the URL of an empty database. */
  toArguments(port: number, data: string, tree: string): string[];
}

/** The working tree of this bench. */
export const THIS_TREE = fileURLToPath(new URL("..", import.meta.url));

export const CONTENDERS: Record<ContenderId, Contender> = {
  power: { label: "Dragoman power", wire: "v1", toArguments: dragoman("power") },
  process: { label: "Dragoman process", wire: "v03", toArguments: dragoman("process") },
  silent: { label: "Dragoman silent", wire: "v1", toArguments: dragoman("power", "--no-metrics") },
  traced: { label: "Dragoman traced", wire: "v1", traced: true, toArguments: dragoman("power") },
  postgres: { label: "Dragoman Postgres", wire: "v1", postgres: true, toArguments: dragoman("power") },
  v11: { label: "Dragoman with A2A 1.1", wire: "v11", toArguments: dragoman("power", "--v11", "on") },
  mcp: { label: "Dragoman with MCP", wire: "v1", toArguments: dragoman("power", "--mcp") },
  push: {
    label: "Dragoman with webhooks",
    wire: "v1",
    toArguments: dragoman("power", "--push-allow-loopback"),
  },
  paced: {
    label: "Dragoman",
    wire: "v1",
    toArguments: dragoman(
      "power",
      "--runs-max",
      "20000",
      "--streams-max",
      "20000",
      "--connections-max",
      "20000",
    ),
  },
  official13: { label: "official 1.3.0", wire: "v1", toArguments: official("official13.ts") },
  official03: { label: "official 0.3.14", wire: "v03", toArguments: official("official03.ts") },
  bare: { label: "bare node:http", wire: "v1", toArguments: official("bare.ts") },
};

/** Whether a contender is Dragoman, which can also be started from another tree. */
export const isDragoman = (id: ContenderId): boolean =>
  id !== "official13" && id !== "official03" && id !== "bare";

/** The flags of Node in `npm start`. */
export function flagsOfStart(tree: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8"));
  return String(scripts.start)
    .split(" ")
    .filter(word => word.startsWith("--"));
}

function dragoman(durability: "power" | "process", ...flags: string[]): Contender["toArguments"] {
  return (port, data, tree) => {
    return [
      ...flagsOfStart(tree),
      // What users start: the bundle if it is that of the sources, and the sources otherwise.
      join(tree, "bin/dragoman.cjs"),
      "serve",
      join(tree, "bench/agents/bench.ts"),
      "--port",
      String(port),
      "--data",
      data,
      "--durability",
      durability,
      ...flags,
    ];
  };
}

function official(file: string): Contender["toArguments"] {
  return port => [toPath(`./servers/${file}`), String(port)];
}

function toPath(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
