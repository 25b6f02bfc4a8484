import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";

const SOURCES = ["the archive", "the library", "the web"];
const ASK_MS = 1_500;
const PAUSE_MS = 500;

/** Long work in steps: kill the server in the middle, start it again, and no step is repeated. */
export default agent({
  name: "research",
  description: "Looks a topic up in three places, one after the other, and survives restarts of the server",
  skills: [
    {
      id: "look-up",
      description: "Looks a topic up and reports what was found where",
      tags: ["research", "durable"],
      examples: ["Octopuses"],
    },
  ],

  // An interrupted run starts again at the first line. Values that must be the same then are steps, or come from ctx.
  async *run(task, ctx) {
    const begun = await ctx.now();
    yield ctx.text(`What is known about ${task.text}:\n`);
    let total = 0;
    for (const source of SOURCES) {
      yield ctx.status(`Asking ${source}`);
      // Runs once. Its result is recorded before the next line runs; a later attempt gets the recorded result.
      const pages = await ctx.step(`ask ${source}`, ({ signal }) => ask(signal));
      total += pages;
      // Text that was sent before the interruption is not sent again.
      yield ctx.text(`- ${source} has ${pages} pages\n`);
      // Across a restart, too: it ends at the same time.
      await ctx.sleep(PAUSE_MS);
    }
    yield ctx.data(
      { topic: task.text, pages: total, begun: new Date(begun).toISOString() },
      { name: "summary" },
    );
  },
});

/** Simulates a slow and expensive request whose result is never the same twice. */
async function ask(signal: AbortSignal): Promise<number> {
  await sleep(ASK_MS, undefined, { signal });
  return Math.ceil(Math.random() * 100);
}
