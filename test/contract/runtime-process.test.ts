import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CreatedAgent, runtimeContract } from "./runtime.contract.ts";

const PROGRAM = new URL("../support/programs/contract.mjs", import.meta.url).pathname;

async function createAgent(folder: string, options: object): Promise<CreatedAgent> {
  copyFileSync(PROGRAM, join(folder, "agent.mjs"));
  const agent = { runtime: "process", name: "tested", command: [process.execPath, "agent.mjs"], ...options };
  const config = join(folder, "dragoman.config.ts");
  writeFileSync(config, `export default { agents: [${JSON.stringify(agent)}] };\n`);
  return { serveArguments: [config] };
}

runtimeContract({ name: "a program, one process for each run", createAgent });

runtimeContract({
  name: "a program, in a pool of processes",
  createAgent: (folder, more) => createAgent(folder, { pool: 2, ...more }),
});
