import { agent } from "dragoman";

/** Uses a tool of an MCP server. */
export default agent({
  name: "planner",
  description: "Tells how long it is until a day",
  async *run(task, ctx) {
    const clock = await ctx.mcp("clock");
    const tools = await clock.listTools();
    yield ctx.status(`I have ${tools.map(tool => tool.name).join(", ")}`);
    const { text, isError } = await ctx.step("count", () => clock.callTool("days_until", { day: task.text }));
    yield isError ? ctx.fail(text) : ctx.text(`${text} days until ${task.text}`);
  },
});
