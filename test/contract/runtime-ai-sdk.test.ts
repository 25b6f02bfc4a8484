import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runtimeContract } from "./runtime.contract.ts";

const MODEL = new URL("../support/ai-model.ts", import.meta.url).href;

runtimeContract({
  name: "the AI SDK",
  async createAgent(folder, more) {
    const file = join(folder, "tested.ts");
    const made = `contractAgent(${JSON.stringify(folder)}, ${JSON.stringify(more)})`;
    writeFileSync(file, `import { contractAgent } from "${MODEL}";\nexport default ${made};\n`);
    return { serveArguments: [file] };
  },
});
