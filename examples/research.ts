import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";

const SOURCES = ["the archive", "the library", "the web"];
const ASK_MS = 1_500;
const PAUSE_MS = 500;

/** Long work in steps: kill the server in the middle, start it again, and nothing is done twice. */
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

  // A run that was cut off begins again at the first line. Whatever must be the same then is a step, or asked of ctx.
  async *run(task, ctx) {
    const begun = await ctx.now();
    yield ctx.text(`What is known about ${task.text}:\n`);
    let total = 0;
    for (const source of SOURCES) {
      yield ctx.status(`Asking ${source}`);
      // Happens once. What it returns is on record before the next line runs; a later attempt gets it from there.
      const pages = await ctx.step(`ask ${source}`, ({ signal }) => ask(signal));
      total += pages;
      // Words that were said before the cut are not said again.
      yield ctx.text(`- ${source} has ${pages} pages\n`);
      // Also over a restart: it ends when it would have ended.
      await ctx.sleep(PAUSE_MS);
    }
    yield ctx.data(
      { topic: task.text, pages: total, begun: new Date(begun).toISOString() },
      { name: "summary" },
    );
  },
});

/** Stands for a slow and expensive question whose answer is never the same twice. */
async function ask(signal: AbortSignal): Promise<number> {
  await sleep(ASK_MS, undefined, { signal });
  return Math.ceil(Math.random() * 100);
}
