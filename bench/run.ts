import type { Children } from "./children.ts";
import { CONTENDERS } from "./contenders.ts";
import type { Generator } from "./generator.ts";
import { fill, measureIdle, measureLoad, type Round } from "./measure.ts";
import type { Options } from "./options.ts";
import { type Reading, type Rounds, toSpread } from "./ratios.ts";
import { describeRound } from "./report.ts";
import type { Entry, IdleScenario, LoadEntry, LoadScenario, Scenario } from "./scenarios.ts";
import { type Server, type ServerEnvironment, startServer } from "./server.ts";

export interface Tools {
  options: Options;
  children: Children;
  surroundings: ServerEnvironment;
  generator: Generator;
  /** A line for the user, while the bench runs. */
  print(line: string): void;
}

export interface Result {
  scenario: Scenario;
  rounds: Map<string, Rounds>;
  /** Errors, apart from being slow. */
  problems: string[];
  /** The maximum share of one core that the load generator used in any round. */
  generatorShareMax: number;
}

export async function runScenario(scenario: Scenario, tools: Tools): Promise<Result> {
  tools.print(`\n${scenario.name}: ${scenario.about}`);
  const rounds = new Map(scenario.entries.map(entry => [entry.id, []]));
  const result: Result = { scenario, rounds, problems: [], generatorShareMax: 0 };
  if (scenario.kind === "load") await runLoad(scenario, result, tools);
  else await runIdle(scenario, result, tools);
  return result;
}

/** Fresh servers for each scenario, without the tasks of the previous one. */
async function runLoad(scenario: LoadScenario, result: Result, tools: Tools): Promise<void> {
  const { rounds, against } = tools.options;
  if (against === undefined) return runOn(scenario, 0, rounds, result, tools);
  // Two processes of the same code can differ by a quarter for their whole life: several of them are
  // compared.
  for (let round = 0; round < rounds; round++) await runOn(scenario, round, round + 1, result, tools);
}

/**
 * Warm-ups are in parts, in turn: V8 shrinks the heap of a server that waits for seconds, and the same version seemed 5 %
 * slower when it was warmed up before the other.
 */
const WARM_PARTS = 4;

/** Some rounds on the same servers. */
async function runOn(
  scenario: LoadScenario,
  first: number,
  end: number,
  result: Result,
  tools: Tools,
): Promise<void> {
  const { rounds, turns, turnMs, warmMs, serverWarmMs } = tools.options;
  const servers = await startServers(scenario, result, tools);
  const measure = (entry: LoadEntry, ms: number): Promise<Round | undefined> => {
    const server = servers.get(toKey(entry));
    return server === undefined
      ? Promise.resolve(undefined)
      : attempt(() => measureLoad(entry, server, tools.generator, ms));
  };
  try {
    const onServer = Map.groupBy(scenario.entries, toKey);
    for (let part = 0; part < WARM_PARTS; part++)
      for (const entry of scenario.entries) {
        const { length } = onServer.get(toKey(entry)) as LoadEntry[];
        await measure(entry, Math.max(warmMs, serverWarmMs / length) / WARM_PARTS);
      }
    for (let round = first; round < end; round++) {
      const found = new Map<string, Round[]>(scenario.entries.map(({ id }) => [id, []]));
      for (let turn = 0; turn < turns; turn++) {
        // Every second turn goes backwards: no entry is always measured after the same other one.
        const entries = turn % 2 === 0 ? scenario.entries : scenario.entries.toReversed();
        for (const [id, one] of await takeTurns(entries, round, entry => measure(entry, turnMs)))
          if (one) found.get(id)?.push(one);
      }
      record(new Map([...found].map(([id, all]) => [id, toMedian(all)])), round, rounds, result, tools);
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

/** The median of several turns of one entry; one that failed invalidates the round. */
function toMedian(turns: readonly Round[]): Round | undefined {
  const failed = turns.find(turn => turn.reading === undefined);
  if (failed || turns.length < 2) return failed ?? turns[0];
  const readings = turns.map(turn => turn.reading as Reading);
  const perSecond = toSpread(readings.map(reading => reading.perSecond ?? 0)).median;
  const cost = toSpread(readings.map(reading => reading.cost)).median;
  const generatorShare = Math.max(...turns.map(turn => turn.generatorShare));
  return { reading: { perSecond, cost }, generatorShare, problem: undefined };
}

/** A fresh server for each round: a process seldom returns memory. */
async function runIdle(scenario: IdleScenario, result: Result, tools: Tools): Promise<void> {
  const { rounds } = tools.options;
  const measure = async (entry: LoadEntry): Promise<Round> => {
    const server = await startServer(entry, tools.surroundings);
    return await measureIdle(entry, server, tools.generator).finally(server.stop);
  };
  for (let round = 0; round < rounds; round++) {
    const found = await takeTurns(scenario.entries, round, entry => attempt(() => measure(entry)));
    record(found, round, rounds, result, tools);
  }
}

async function startServers(scenario: LoadScenario, result: Result, tools: Tools) {
  const servers = new Map<string, Server>();
  const distinct = new Map(scenario.entries.map(entry => [toKey(entry), entry]));
  for (const [key, entry] of distinct) {
    try {
      const server = await startServer(entry, tools.surroundings);
      servers.set(key, server);
      await fill(entry, server, tools.generator);
    } catch (error) {
      const { label } = CONTENDERS[entry.contender];
      noteProblem(`${label} did not start: ${(error as Error).message}`, result, tools);
    }
  }
  return servers;
}

/** Entries with the same key are measured on the same server. */
const toKey = ({ contender, tree = "", tasksBefore = 0 }: LoadEntry): string =>
  `${contender} ${tasksBefore} ${tree}`;

/** Every entry has a turn in each round, and another one is first each time. */
async function takeTurns<E extends Entry>(
  entries: E[],
  round: number,
  measure: (entry: E) => Promise<Round | undefined>,
): Promise<Map<string, Round | undefined>> {
  const first = round % entries.length;
  const found = new Map<string, Round | undefined>();
  for (const entry of [...entries.slice(first), ...entries.slice(0, first)]) {
    found.set(entry.id, await measure(entry));
  }
  return found;
}

async function attempt(measure: () => Promise<Round>): Promise<Round> {
  try {
    return await measure();
  } catch (error) {
    return { reading: undefined, generatorShare: 0, problem: (error as Error).message };
  }
}

function record(
  found: Map<string, Round | undefined>,
  index: number,
  count: number,
  result: Result,
  tools: Tools,
): void {
  for (const [id, rounds] of result.rounds) {
    const round = found.get(id);
    rounds.push(round?.reading);
    result.generatorShareMax = Math.max(result.generatorShareMax, round?.generatorShare ?? 0);
    if (round?.problem) noteProblem(`${id}, round ${index + 1}: ${round.problem}`, result, tools);
  }
  tools.print(`  round ${index + 1}/${count}  ${describeRound(result)}`);
}

/** The whole text while the bench runs, its most informative line in the report. */
function noteProblem(problem: string, result: Result, tools: Tools): void {
  const lines = problem.split("\n");
  const cause = lines.slice(1).find(line => /error/i.test(line)) ?? "";
  result.problems.push(`${result.scenario.name}: ${lines[0]} ${cause}`.trimEnd());
  tools.print(`  ${problem}`);
}
