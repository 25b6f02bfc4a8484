import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";

const STEP_MS = 1_000;
const SECONDS_MAX = 3_600;

/** Long work that can be canceled at any moment. */
export default agent({
  name: "slow",
  description: "Works for as many seconds as the text says, or 30; can be canceled",
  skills: [
    {
      id: "work-slowly",
      description: "Works for a while and reports how far it is",
      tags: ["long-running", "cancel"],
      examples: ["Work for 10 seconds"],
    },
  ],

  async *run(task, ctx) {
    const seconds = Math.min(Number(/\d+(?:\.\d+)?/.exec(task.text)?.[0] ?? 30), SECONDS_MAX);
    // The run continues when the caller disconnects; a caller that subscribes again gets the current status first.
    for (let done = 0; done < seconds; done++) {
      yield ctx.status(`${done} of ${seconds} seconds done`);
      // Pass ctx.signal to everything that waits (fetch accepts it, too): it is aborted when the task is canceled.
      // Then sleep throws, the run ends, and the server reports the task as canceled.
      await sleep(Math.min(STEP_MS, (seconds - done) * STEP_MS), undefined, { signal: ctx.signal });
    }
    return ctx.text(`Done after ${seconds} seconds of hard work.`);
  },
});
