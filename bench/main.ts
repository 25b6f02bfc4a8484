import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { constants, cpus } from "node:os";
import { toChart } from "./chart.ts";
import { openTree } from "./checkout.ts";
import { type Children, createChildren } from "./children.ts";
import type { PostgresServer } from "./cluster/processes.ts";
import { THIS_TREE } from "./contenders.ts";
import { createGenerator } from "./generator.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { describeResults, type JsonResult, toJsonResult } from "./report.ts";
import { type Result, runScenario, type Tools } from "./run.ts";
import { againstTree, type Measurement } from "./scenarios.ts";

async function bench(options: Options): Promise<void> {
  const children = createChildren();
  process.on("exit", children.endAll);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  const output = options.json ? process.stderr : process.stdout;
  const print = (line: string): void => void output.write(`${line}\n`);
  const environment = {
    children,
    parent: options.folder,
    createDatabase: createDatabases(children, options),
  };
  const tools: Tools = {
    options,
    children,
    surroundings: environment,
    generator: createGenerator(children),
    print: print,
  };
  const { against, folder } = options;
  const tree = against === undefined ? undefined : openTree(against, children, folder);
  const results: Result[] = [];
  for (const scenario of options.scenarios)
    results.push(await runScenario(tree === undefined ? scenario : againstTree(scenario, tree), tools));
  if (results.length > 0) print(describeResults(results));
  const measured: Measured[] = [];
  for (const name of options.measurements) {
    const one = await MEASURE[name](tools);
    print(one.text);
    measured.push(one);
  }
  const json = [...results.map(toJsonResult), ...measured.map(one => one.json)];
  if (options.json) process.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
  if (options.save) save(json);
  // A slow server is a result and no error; a wrong response or a server that does not start is an error.
  const problems = [...results, ...measured].flatMap(result => result.problems);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

interface Measured {
  readonly text: string;
  readonly json: { readonly scenario: Measurement };
  readonly problems: readonly string[];
}

/** Loaded only if they are measured: the cluster needs Postgres, LangGraph's API another server that is installed on demand. */
const MEASURE: Record<Measurement, (tools: Tools) => Promise<Measured>> = {
  async paced(tools) {
    const { describePaced, runPaced } = await import("./paced.ts");
    const result = await runPaced(tools);
    return { text: describePaced(result), json: { scenario: "paced", ...result }, problems: result.problems };
  },
  async startup(tools) {
    const { describeStartup, runStartup } = await import("./startup.ts");
    const result = await runStartup(tools);
    return {
      text: describeStartup(result),
      json: { scenario: "startup", ...result },
      problems: result.problems,
    };
  },
  async cluster(tools) {
    const { describeCluster, runCluster } = await import("./cluster.ts");
    const result = await runCluster(tools);
    return {
      text: describeCluster(result),
      json: { scenario: "cluster", ...result },
      problems: result.problems,
    };
  },
  async langgraph(tools) {
    const { describeLanggraph, runLanggraph } = await import("./langgraph.ts");
    const result = await runLanggraph(tools);
    return {
      text: describeLanggraph(result),
      json: { scenario: "langgraph", ...result },
      problems: result.problems,
    };
  },
};

function save(json: readonly { readonly scenario: string }[]): void {
  const results = { commit: readCommit(), node: process.version, cpus: cpus().length, results: json };
  writeFileSync(new URL("./results.json", import.meta.url), `${JSON.stringify(results)}\n`);
  const compared = json.filter(one => "comparisons" in one) as JsonResult[];
  writeFileSync(new URL("../docs/images/bench.svg", import.meta.url), toChart(compared));
}

const readCommit = (): string =>
  spawnSync("git", ["-C", THIS_TREE, "rev-parse", "--short", "HEAD"]).stdout.toString().trim();

/** Starts Postgres with the first database that a contender needs; the end of the bench stops it. */
function createDatabases(children: Children, { folder }: Options): () => Promise<string> {
  let started: Promise<PostgresServer> | undefined;
  return async () => {
    const { startPostgres } = await import("./cluster/processes.ts");
    started ??= startPostgres(children, folder);
    return (await started).createDatabase();
  };
}

function checkPlatform(): void {
  if (process.platform !== "linux")
    throw new Error("the bench reads CPU time and memory from /proc: it needs Linux");
}

try {
  const options = readOptions(process.argv.slice(2));
  checkPlatform();
  if (options === undefined) process.stdout.write(USAGE);
  else await bench(options);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
process.exit();
