import { writeAgent } from "./child.ts";
import { rpc, sendParams } from "./client.ts";
import { taskOf } from "./wire.ts";

/** An agent that measures the memory of its process. */
export function writeMemoryAgent(folder: string): string {
  return writeAgent(
    folder,
    "scale",
    `
    const { setFlagsFromString } = await import("node:v8");
    const { runInNewContext } = await import("node:vm");
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    for (let i = 0; i < 3; i++) {
      collect();
      await sleep(5);
    }
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    yield ctx.data({ live: heapUsed + external + arrayBuffers });`,
  );
}

/** Bytes in use after garbage collection. */
export async function readLiveMemory(url: string): Promise<number> {
  const { body } = await rpc(`${url}/agents/scale`, "SendMessage", sendParams("now"));
  return taskOf(body).artifacts[0].parts[0].data.live;
}
