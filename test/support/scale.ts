import { writeAgent } from "./child.ts";
import { rpc, said } from "./client.ts";
import { taskOf } from "./wire.ts";

/** An agent that weighs the process that it runs in. */
export function writeScale(folder: string): string {
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

/** Bytes in use after the garbage is gone. */
export async function liveMemory(url: string): Promise<number> {
  const { body } = await rpc(`${url}/agents/scale`, "SendMessage", said("now"));
  return taskOf(body).artifacts[0].parts[0].data.live;
}
