import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startChild, writeAgent } from "../support/child.ts";
import { contractAgentBody } from "../support/contract-agent.ts";
import { startProxy } from "../support/proxy.ts";
import { runtimeContract } from "./runtime.contract.ts";

/** The agent runs on a second server, behind a proxy that can fail. */
runtimeContract({
  name: "a remote agent",
  resumes: true,
  spends: false,
  async createAgent(folder, more) {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    const proxy = await startProxy();
    proxy.instead = (body, response) => {
      if (!body.includes('"fail"')) return false;
      response.writeHead(400).end("SECRET");
      return true;
    };
    const file = writeAgent(elsewhere, "worker", contractAgentBody(folder));
    const flags = ["--public-url", proxy.url, "--log-level", "warn"];
    const remote = await startChild({ agents: [file], data: join(elsewhere, "data"), flags });
    proxy.target = remote.url;
    const config = join(folder, "dragoman.config.ts");
    const spec = { runtime: "remote", name: "tested", card: proxy.url, ...more };
    writeFileSync(config, `export default ${JSON.stringify({ agents: [spec] })};`);
    return { serveArguments: [config], close: () => proxy.close() };
  },
});
