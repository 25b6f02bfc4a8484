import { agent } from "dragoman";

/** The smallest agent: it repeats the message. */
export default agent({
  name: "echo",
  description: "Says back what it hears",

  // An async generator: each yielded value is sent to the caller immediately.
  async *run(task, ctx) {
    // Several texts are appended to one artifact, like the tokens of a language model.
    yield ctx.text("You said: ");
    yield ctx.text(task.text);
  },
  // When run returns, the task is completed; if it throws, the task has failed.
});
