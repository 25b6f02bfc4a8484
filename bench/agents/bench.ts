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
  },
});
