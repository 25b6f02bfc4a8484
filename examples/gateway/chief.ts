import { agent } from "dragoman";

const { UPSTREAM_URL = "http://127.0.0.1:2024" } = process.env;

/** Calls another agent and uses its response. */
export default agent({
  name: "chief",
  description: "Delegates to another agent",
  async *run(task, ctx) {
    yield ctx.status("Calling another agent");
    // No caller can influence the URL, so private addresses are allowed.
    const reply = await ctx.call(UPSTREAM_URL, task.text, { trusted: true });
    if (reply.state !== "completed") return yield ctx.fail(`The other agent failed: ${reply.text}`);
    yield ctx.text(`We found: ${reply.text}`);
  },
});
