import type { AgentDefinition } from "../../../src/agent/definition.ts";
import { asker, echo, mirror, replier } from "../agents.ts";
import { doubter } from "../langgraph.ts";
import { partsText } from "../wire.ts";

/** The agents that the statements of the vendors' documents are tried with. */
export const AGENTS: readonly AgentDefinition[] = [
  echo,
  asker,
  mirror,
  replier,
  doubter,
  {
    name: "memory",
    async run(_task, ctx) {
      const earlier = (await ctx.history).filter(one => one.role === "user");
      return earlier.map(one => partsText(one.parts)).join(", ") || "nothing";
    },
  },
  { name: "thread", run: task => task.thread },
  {
    name: "form",
    inputSchema: { type: "object", properties: { locale: { type: "string" } } },
    run: (task, ctx) => ctx.data(task.input),
  },
  { name: "input", run: (task, ctx) => ctx.data({ text: task.text, ...(task.input as object) }) },
  {
    name: "words",
    async *run(_task, ctx) {
      yield ctx.text("hello ");
      yield ctx.text("there");
      ctx.usage({ inputTokens: 142, outputTokens: 218 });
    },
  },
  {
    // Ends when it is canceled.
    name: "endless",
    replies: "task",
    async *run(_task, ctx) {
      yield ctx.status("Begun");
      await new Promise(resolve => ctx.signal.addEventListener("abort", resolve));
    },
  },
  {
    name: "summarizer",
    async *run(_task, ctx) {
      yield ctx.text("...", { name: "summary", last: true });
      yield ctx.data({ words: 2 }, { name: "counts", description: "How many" });
      const parts = [{ kind: "text" as const, text: "Here is the summary..." }];
      yield { type: "status", state: "completed", message: { messageId: "here", role: "agent", parts } };
    },
  },
  { name: "mute", streaming: false, run: task => task.text },
  { name: "discreet", push: false, run: task => task.text },
  { name: "chronicler", stateTransitionHistory: true, run: task => task.text },
  { name: "needy", extensions: [{ uri: "urn:example:needed", required: true }], run: task => task.text },
  { name: "failing", run: (_task, ctx) => ctx.fail("The provider did not answer") },
  { name: "rejecting", run: (_task, ctx) => ctx.reject("Not today") },
  { name: "locked", run: () => ({ type: "status", state: "auth-required" }) },
  { name: "hidden", access: "internal", run: task => task.text },
  {
    name: "thrower",
    run() {
      throw new Error("a secret");
    },
  },
];
