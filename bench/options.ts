import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { MEASUREMENTS, type Measurement, SCENARIOS, type Scenario } from "./scenarios.ts";

export interface Options {
  scenarios: Scenario[];
  /** What is measured in another way than by ratios. */
  measurements: Measurement[];
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
  /** Dragoman is compared with this commit or checkout, and each round has fresh servers. */
  against: string | undefined;
  /** The results and the chart of the README are written. */
  save: boolean;
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
  --only A,B      only these: ${[...SCENARIOS.map(scenario => scenario.name), ...MEASUREMENTS].join(", ")};
                  cluster takes long and langgraph installs packages: they are measured only if they are named
  --rounds N      rounds per scenario (5, quick 3)
  --against REF   compare Dragoman with another commit of it (HEAD~1, or a folder with a checkout) instead of the
                  official servers, in the same rounds; a cost ratio of at most 1.05 is expected
  --save          write bench/results.json, and docs/images/bench.svg from it
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
      save: { type: "boolean", default: false },
      folder: { type: "string", default: tmpdir() },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = values.rounds === undefined ? undefined : readRounds(values.rounds);
  const only = values.only?.split(",").map(name => name.trim());
  const isAgainst = values.against !== undefined;
  return {
    ...readNames(only, isAgainst),
    rounds: rounds ?? (values.quick ? 3 : 5),
    clusterRounds: rounds ?? (values.quick ? 1 : 3),
    turns: isAgainst ? AGAINST_TURNS : 1,
    turnMs: values.quick || isAgainst ? SHORT_TURN_MS : 2_000,
    warmMs: values.quick ? 500 : 4_000,
    serverWarmMs: isAgainst && !values.quick ? 8_000 : 0,
    against: values.against,
    save: values.save,
    json: values.json,
    folder: values.folder,
  };
}

/** Without names: everything but the cluster and LangGraph. The measurements know no other tree. */
function readNames(
  only: string[] | undefined,
  isAgainst: boolean,
): Pick<Options, "scenarios" | "measurements"> {
  if (!only)
    return {
      scenarios: SCENARIOS,
      measurements: isAgainst ? [] : MEASUREMENTS.filter(one => one !== "cluster" && one !== "langgraph"),
    };
  const measurements = MEASUREMENTS.filter(name => only.includes(name));
  const names = only.filter(name => !(MEASUREMENTS as readonly string[]).includes(name));
  return { scenarios: names.map(readScenario), measurements };
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= ROUNDS_MAX) return rounds;
  throw new Error(`--rounds is a number from 1 to ${ROUNDS_MAX}, not "${text}"`);
}

function readScenario(name: string): Scenario {
  const found = SCENARIOS.find(scenario => scenario.name === name);
  if (found) return found;
  throw new Error(
    `unknown scenario "${name}"; known: ${[...SCENARIOS.map(known => known.name), ...MEASUREMENTS].join(", ")}`,
  );
}
