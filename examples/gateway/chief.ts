import { agent } from "dragoman";

const { UPSTREAM_URL = "http://127.0.0.1:2024" } = process.env;

/** Hands the work to somebody else, and makes something of the answer. */
export default agent({
  name: "chief",
  description: "Has others do the work",
  async *run(task, ctx) {
    yield ctx.status("I have somebody for that");
    // No caller has a say in the address, so it may be inside.
    const reply = await ctx.call(UPSTREAM_URL, task.text, { trusted: true });
    if (reply.state !== "completed") return yield ctx.fail(`It did not work: ${reply.text}`);
    yield ctx.text(`We found: ${reply.text}`);
  },
});
