import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { againstTree, CLUSTER, SCENARIOS, type Scenario } from "./scenarios.ts";

export interface Options {
  scenarios: Scenario[];
  /** Several nodes as well, which takes long: only if it is named. */
  cluster: boolean;
  rounds: number;
  clusterRounds: number;
  /** How often each contender is measured in a round, in turn with the others. */
  turns: number;
  /** Length of one such turn. */
  turnMs: number;
  /** Warm-up of each entry. */
  warmMs: number;
  /** Warm-up of each server, over all its entries: V8 still compiles after four seconds of load. */
  serverWarmMs: number;
  json: boolean;
  /** Dragoman is compared with another checkout, and each round has fresh servers. */
  against: boolean;
  /** The parent of the data folders. */
  folder: string;
}

const ROUNDS_MAX = 100;
const SHORT_TURN_MS = 800;
/**
 * Two versions differ by little: each is measured twice, forwards and backwards, so that a disturbance
 * affects both.
 */
const AGAINST_TURNS = 2;

export const USAGE = `npm run bench -- [options]
  --quick         a good minute instead of about four: shorter and fewer rounds
  --only A,B      only these scenarios: ${SCENARIOS.map(scenario => scenario.name).join(", ")};
                  and ${CLUSTER}, which is not among them unless it is named
  --rounds N      rounds per scenario (5, quick 3)
  --against DIR   compare Dragoman with the checkout in DIR (the commit before, with its own npm ci) instead of the
                  official servers, in the same rounds; a cost ratio of at most 1.05 is expected
  --json          the result as JSON on stdout; progress goes to stderr
  --folder DIR    where data folders are made (${tmpdir()}); choose a real disk, a file system in memory syncs for free
  --help          this text
`;

/** Throws an Error for the user when the arguments are invalid; undefined when only help was requested. */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      json: { type: "boolean", default: false },
      against: { type: "string" },
      folder: { type: "string", default: tmpdir() },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = values.rounds === undefined ? undefined : readRounds(values.rounds);
  const only = values.only?.split(",").map(name => name.trim());
  const scenarios = only?.filter(name => name !== CLUSTER).map(readScenario) ?? SCENARIOS;
  const tree = values.against === undefined ? undefined : readTree(values.against);
  return {
    scenarios: tree === undefined ? scenarios : scenarios.map(scenario => againstTree(scenario, tree)),
    cluster: only?.includes(CLUSTER) ?? false,
    rounds: rounds ?? (values.quick ? 3 : 5),
    clusterRounds: rounds ?? (values.quick ? 1 : 3),
    turns: tree === undefined ? 1 : AGAINST_TURNS,
    turnMs: values.quick || tree !== undefined ? SHORT_TURN_MS : 2_000,
    warmMs: values.quick ? 500 : 4_000,
    serverWarmMs: tree === undefined || values.quick ? 0 : 8_000,
    against: tree !== undefined,
    json: values.json,
    folder: values.folder,
  };
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= ROUNDS_MAX) return rounds;
  throw new Error(`--rounds is a number from 1 to ${ROUNDS_MAX}, not "${text}"`);
}

function readTree(folder: string): string {
  if (existsSync(join(folder, "src/cli/main.ts"))) return resolve(folder);
  throw new Error(`--against needs a checkout of Dragoman; "${folder}" has no src/cli/main.ts`);
}

function readScenario(name: string): Scenario {
  const found = SCENARIOS.find(scenario => scenario.name === name);
  if (found) return found;
  throw new Error(
    `unknown scenario "${name}"; known: ${[...SCENARIOS.map(known => known.name), CLUSTER].join(", ")}`,
  );
}
