import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";
import { chunkText, readRequest } from "./script.ts";

/** The bench agent on Dragoman; `servers/` holds the same agent for the official servers. */
export default agent({
  name: "bench",
  description: "Echoes, streams or stays silent, as the text asks",
  async *run(task, ctx) {
    const request = readRequest(task.text);
    if (request.kind === "echo") yield ctx.text(request.text);
    if (request.kind === "idle") await new Promise(resolve => ctx.signal.addEventListener("abort", resolve));
    if (request.kind === "stream") {
      for (let index = 0; index < request.chunks; index++) yield ctx.text(chunkText(index));
    }
    if (request.kind === "pace") {
      const { count, pauseMs, beginMs } = request;
      // The stream begins with the first event of the agent.
      yield ctx.status("waiting");
      for (let index = 0; index < count; index++) {
        // By the schedule: an event that is late does not delay the next one.
        await sleep(Math.max(0, beginMs + index * pauseMs - now()));
        yield ctx.text(chunkText(index).replace(" ", ` @${now().toFixed(2)} `));
      }
    }
  },
});

const now = (): number => performance.timeOrigin + performance.now();
