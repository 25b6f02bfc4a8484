/** A runtime for agents that are written for an interface of another library, here `Bot`. */
import { type AgentDefinition, agent, type CreateAgent, type Message } from "dragoman";

/** The interface of that library: it knows nothing of A2A. */
export interface Bot {
  /** Yields pieces of its reply. */
  reply(text: string, chat: Chat): AsyncIterable<BotOutput>;
}
export interface Chat {
  /** What the user said before in this conversation. */
  readonly earlier: readonly string[];
  /** The question of the bot that the text answers; undefined: it has not asked. */
  readonly question: string | undefined;
  /** Aborted when the user does not want the reply any more. */
  readonly signal: AbortSignal;
}
export type BotOutput =
  | string
  | { readonly question: string }
  | { readonly tokensRead: number; readonly tokensWritten: number };

/** `createServer({ agents: [{ runtime: "bot", name: "greeter" }], runtimes: { bot: createBotRuntime({ greeter }) } })` */
export const createBotRuntime =
  (bots: Readonly<Record<string, Bot>>): CreateAgent =>
  ({ runtime: _, ...options }) => {
    const bot = bots[options.name];
    if (!bot) throw new Error(`There is no bot "${options.name}"`);
    return toAgent(bot, options);
  };

const toAgent = (bot: Bot, options: { readonly name: string }): AgentDefinition =>
  agent({
    ...options,
    async *run(task, ctx) {
      const earlier = (await ctx.history).filter(({ role }) => role === "user").map(textOf);
      const asked = task.history.findLast(({ role }) => role === "agent");
      const chat = { earlier, question: asked && textOf(asked), signal: ctx.signal };
      for await (const output of bot.reply(task.text, chat)) {
        if (typeof output === "string") yield ctx.text(output);
        else if ("question" in output) return yield ctx.ask(output.question);
        else ctx.usage({ inputTokens: output.tokensRead, outputTokens: output.tokensWritten });
      }
    },
  });

const textOf = ({ parts }: Message): string =>
  parts.map(part => (part.kind === "text" ? part.text : "")).join("");
