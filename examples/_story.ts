import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";

const WORDS = `Every word of this answer is on disk before you see it. Kill the server in the middle of a sentence,
start it again, and the answer goes on with the next word.`;

/** The agent of `dragoman demo`: a slow writer. A completed step is not executed again after a crash. */
export default agent({
  name: "story",
  description: "Writes slowly, word by word",
  async *run(_task, ctx) {
    for (const [at, word] of WORDS.split(/\s+/).entries()) {
      await ctx.step(`word ${at}`, () => sleep(200, at));
      yield ctx.text(`${word} `);
    }
  },
});
