import { agent } from "dragoman";

/** The smallest agent: it says back what it hears. */
export default agent({
  name: "echo",
  description: "Says back what it hears",

  // An async generator: whatever it yields is sent to the caller at once.
  async *run(task, ctx) {
    // Several texts become one artifact, append by append, as a language model's words would.
    yield ctx.text("You said: ");
    yield ctx.text(task.text);
  },
  // When run returns, the task is completed; if it throws, the task has failed.
});
