import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";

const STEP_MS = 200;
const START_MAX = 100;

/** Progress and streamed text while an agent is working. */
export default agent({
  name: "countdown",
  description: "Counts down to zero from a number in the text, or from 5",
  skills: [
    {
      id: "count-down",
      description: "Counts down to zero, one number at a time",
      tags: ["streaming", "progress"],
      examples: ["Count down from 3"],
    },
  ],

  async *run(task, ctx) {
    const start = Math.min(Number(/\d+/.exec(task.text)?.[0] ?? 5), START_MAX);
    // A status reports progress. It replaces the status before it and is not part of the result.
    yield ctx.status(`Counting down from ${start}`);
    for (let number = start; number > 0; number--) {
      // Text is the result: it is stored as an artifact, and streamed while it grows.
      yield ctx.text(`${number} … `);
      // With the signal a cancel ends the pause: sleep throws, which ends the run.
      await sleep(STEP_MS, undefined, { signal: ctx.signal });
    }
    yield ctx.text("Lift-off!");
  },
});
