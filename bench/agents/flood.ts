import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";
import { chunkText } from "./script.ts";

/**
 * Sends a number of chunks with a pause between them, from a given time on; each has its process id and its
 * time.
 */
export default agent({
  name: "flood",
  description: "Sends chunks, as many and as fast as the text asks: flood COUNT PAUSE_MS BEGIN_MS",
  async *run(task, ctx) {
    const [, count = 1, pauseMs = 0, beginMs = 0] = task.text.split(" ").map(Number);
    await sleep(Math.max(0, beginMs - (performance.timeOrigin + performance.now())));
    for (let index = 0; index < count; index++) {
      const at = (performance.timeOrigin + performance.now()).toFixed(2);
      yield ctx.text(chunkText(index).replace(" ", ` @${at}/${process.pid} `));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  },
});
