import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Wire } from "./load/order.ts";

/** The servers that are compared. Each pair of the report speaks the same wire and runs the same agent. */
export type ContenderId = "power" | "process" | "silent" | "traced" | "official13" | "official03";

export interface Contender {
  label: string;
  wire: Wire;
  /** Its traces are taken, and thrown away. */
  traced?: true;
  /** Arguments to Node; `folder` is empty and is removed afterwards. */
  toArguments(port: number, folder: string): string[];
}

export const CONTENDERS: Record<ContenderId, Contender> = {
  power: { label: "Dragoman power", wire: "v1", toArguments: dragoman("power") },
  process: { label: "Dragoman process", wire: "v03", toArguments: dragoman("process") },
  silent: { label: "Dragoman silent", wire: "v1", toArguments: dragoman("power", "--no-metrics") },
  traced: { label: "Dragoman traced", wire: "v1", traced: true, toArguments: dragoman("power") },
  official13: { label: "official 1.3.0", wire: "v1", toArguments: official("official13.ts") },
  official03: { label: "official 0.3.14", wire: "v03", toArguments: official("official03.ts") },
};

/** What `npm start` gives Node. */
function flagsOfStart(): string[] {
  const { scripts } = JSON.parse(readFileSync(toPath("../package.json"), "utf8"));
  return String(scripts.start)
    .split(" ")
    .filter(word => word.startsWith("--"));
}

function dragoman(durability: "power" | "process", ...flags: string[]): Contender["toArguments"] {
  const main = toPath("../src/cli/main.ts");
  const agent = toPath("./agents/bench.ts");
  return (port, folder) => {
    return [
      ...flagsOfStart(),
      main,
      "serve",
      agent,
      "--port",
      String(port),
      "--data",
      folder,
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
