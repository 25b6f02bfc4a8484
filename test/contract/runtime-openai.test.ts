import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { contractScript, startChatServer } from "../support/chat-server.ts";
import { runtimeContract } from "./runtime.contract.ts";

runtimeContract({
  name: "an OpenAI-compatible endpoint",
  asks: false,
  async createAgent(folder, more) {
    const { url, close } = await startChatServer(contractScript(folder));
    const agent = { runtime: "openai", name: "tested", baseUrl: url, model: "fake", ...more };
    const config = join(folder, "dragoman.config.ts");
    writeFileSync(config, `export default { agents: [${JSON.stringify(agent)}] };\n`);
    return { serveArguments: [config], close };
  },
});
