import { constants } from "node:os";
import { type Children, createChildren } from "./children.ts";
import type { PostgresServer } from "./cluster/processes.ts";
import type { ClusterResult } from "./cluster.ts";
import { createGenerator } from "./generator.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { describeResults, toJson } from "./report.ts";
import { type Result, runScenario, type Tools } from "./run.ts";

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
  const results = await runAll(tools);
  if (results.length > 0) print(describeResults(results));
  const cluster = options.cluster ? await measureCluster(tools) : undefined;
  if (options.json) process.stdout.write(`${JSON.stringify(toJson(results, cluster), null, 2)}\n`);
  // A slow server is a result and no error; a wrong response or a server that does not start is an error.
  const problems = [...results, ...(cluster ? [cluster] : [])].flatMap(result => result.problems);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

/** Starts Postgres with the first database that a contender needs; the end of the bench stops it. */
function createDatabases(children: Children, { folder }: Options): () => Promise<string> {
  let started: Promise<PostgresServer> | undefined;
  return async () => {
    const { startPostgres } = await import("./cluster/processes.ts");
    started ??= startPostgres(children, folder);
    return (await started).createDatabase();
  };
}

/** Loaded only for this scenario: it needs Postgres. */
async function measureCluster(tools: Tools): Promise<ClusterResult> {
  const { describeCluster, runCluster } = await import("./cluster.ts");
  const result = await runCluster(tools);
  tools.print(describeCluster(result));
  return result;
}

async function runAll(tools: Tools): Promise<Result[]> {
  const results: Result[] = [];
  for (const scenario of tools.options.scenarios) results.push(await runScenario(scenario, tools));
  return results;
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
