import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runtimeContract, type Staged } from "./runtime.contract.ts";

const PROGRAM = new URL("../support/programs/contract.mjs", import.meta.url).pathname;

async function stage(folder: string, options: object): Promise<Staged> {
  copyFileSync(PROGRAM, join(folder, "agent.mjs"));
  const agent = { runtime: "process", name: "tested", command: [process.execPath, "agent.mjs"], ...options };
  const config = join(folder, "dragoman.config.ts");
  writeFileSync(config, `export default { agents: [${JSON.stringify(agent)}] };\n`);
  return { served: [config] };
}

runtimeContract({ name: "a program, one process for each run", stage });

runtimeContract({
  name: "a program, in a pool of processes",
  stage: (folder, more) => stage(folder, { pool: 2, ...more }),
});
