/** Runs the contract of runtimes against a process of its own, which is killed with SIGKILL. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TEST_URL } from "../../src/testing/caller.ts";
import {
  type CreatedAgent,
  type RuntimeHost,
  type RuntimeUnderTest,
  runtimeContract,
} from "../../src/testing/contracts/runtime.ts";
import { startChild } from "./child.ts";
import { runContract } from "./contract.ts";

const FLAGS = ["--durability", "process", "--log-level", "warn", "--cancel-grace-ms", "5000"];

async function startProcess({ agents = [] }: CreatedAgent, folder: string): Promise<RuntimeHost> {
  const files = agents.filter(one => typeof one === "string");
  const config = join(folder, "dragoman.config.ts");
  // Entries with a runtime are JSON.
  if (files.length === 0) writeFileSync(config, `export default ${JSON.stringify({ agents })};\n`);
  const serve = (port = 0) =>
    startChild({
      agents: files.length > 0 ? files : [config],
      data: join(folder, "data"),
      port,
      flags: FLAGS,
    });
  let server = await serve();
  const { url } = server;
  return {
    fetch: (target, init) => fetch(String(target).replace(TEST_URL, url), init),
    log: () => server.stderr(),
    async crash() {
      await server.kill();
      server = await serve(server.port);
    },
    close: async () => void (await server.kill()),
  };
}

/** The contract, with a server that is killed. */
export const testRuntime = ({ name, ...runtime }: RuntimeUnderTest & { readonly name: string }): void =>
  runContract(`an agent made with ${name}`, runtimeContract({ ...runtime, start: startProcess }));
