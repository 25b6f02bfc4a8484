import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { CLUSTER, SCENARIOS, type Scenario } from "./scenarios.ts";

export interface Options {
  scenarios: Scenario[];
  /** Several nodes as well, which takes its time: only if somebody asks for it. */
  cluster: boolean;
  rounds: number;
  clusterRounds: number;
  /** Length of one round of one contender. */
  roundMs: number;
  warmMs: number;
  json: boolean;
  /** Where the data folders are made. */
  folder: string;
}

const ROUNDS_MAX = 100;

export const USAGE = `npm run bench -- [options]
  --quick         a good minute instead of about four: shorter and fewer rounds
  --only A,B      only these scenarios: ${SCENARIOS.map(scenario => scenario.name).join(", ")};
                  and ${CLUSTER}, which is not among them unless it is named
  --rounds N      rounds per scenario (5, quick 3)
  --json          the result as JSON on stdout; progress goes to stderr
  --folder DIR    where data folders are made (${tmpdir()}); choose a real disk, a file system in memory syncs for free
  --help          this text
`;

/** Throws an Error for the user when the arguments make no sense; undefined when only help was asked for. */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      json: { type: "boolean", default: false },
      folder: { type: "string", default: tmpdir() },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = values.rounds === undefined ? undefined : readRounds(values.rounds);
  const only = values.only?.split(",").map(name => name.trim());
  return {
    scenarios: only?.filter(name => name !== CLUSTER).map(readScenario) ?? SCENARIOS,
    cluster: only?.includes(CLUSTER) ?? false,
    rounds: rounds ?? (values.quick ? 3 : 5),
    clusterRounds: rounds ?? (values.quick ? 1 : 3),
    roundMs: values.quick ? 800 : 2_000,
    warmMs: values.quick ? 500 : 4_000,
    json: values.json,
    folder: values.folder,
  };
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
    `there is no scenario "${name}"; there are ${[...SCENARIOS.map(known => known.name), CLUSTER].join(", ")}`,
  );
}
