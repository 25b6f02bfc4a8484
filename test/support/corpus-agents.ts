import { z } from "zod";
import type { AgentDefinition } from "../../src/agent/definition.ts";

/** Agents wait here until `@resume`. */
export class ResumeSignal {
  #waiting: (() => void)[] = [];

  wait(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  fire(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}

/** The first one is the default agent. The corpus is frozen with their texts: add agents, do not change them. */
/** Served only where an exchange names them with `@agents`. */
export const NAMED_ONLY: readonly string[] = ["trip"];

export function createCorpusAgents(resume: ResumeSignal): readonly AgentDefinition[] {
  return [...SIMPLE, ...createWaiting(resume)];
}

const SIMPLE: readonly AgentDefinition[] = [
  {
    name: "echo",
    description: "Says back what it hears",
    version: "1.2.3",
    provider: { organization: "Example", url: "https://example.org" },
    documentationUrl: "https://example.org/echo",
    skills: [
      {
        id: "echo",
        name: "Echo",
        description: "Says back what it hears",
        tags: ["test"],
        examples: ["hi"],
      },
    ],
    run: task => task.text,
  },
  {
    name: "streamer",
    description: "Says two chunks",
    async *run(task, ctx) {
      yield ctx.text("You said ");
      yield ctx.text(task.text, { last: true });
    },
  },
  {
    name: "asker",
    description: "Asks once",
    run: (task, ctx) =>
      task.turn === 1 ? ctx.ask("From where to where?") : ctx.text(`Booked: ${task.text}`, { last: true }),
  },
  {
    name: "replier",
    description: "Answers with a bare message",
    replies: "message",
    run: (task, ctx) => ctx.reply(`Hello, ${task.text}`),
  },
  {
    name: "failing",
    description: "Fails",
    run() {
      throw new Error("the password of the database is hunter2");
    },
  },
  {
    name: "rejecting",
    description: "Wants no work",
    run: (_task, ctx) => ctx.reject("Not today"),
  },
  {
    name: "reporter",
    description: "Reports as text, data and files",
    async *run(_task, ctx) {
      yield ctx.status("Counting");
      yield ctx.text("Two words.", { name: "summary", last: true });
      yield ctx.data({ words: 2, list: ["to", "be"] }, { name: "counts", description: "How often" });
      yield ctx.file({ name: "words.csv", bytes: new TextEncoder().encode("word,count\n") });
      yield ctx.file({ name: "plot.png", url: "https://files.example/plot.png", metadata: { dpi: 72 } });
    },
  },
  {
    name: "mirror",
    description: "Gives back the parts that it was given",
    inputModes: ["*/*"],
    run: (task, ctx) =>
      ctx.artifact({ artifactId: "mirror", name: "mirror", parts: task.message.parts, last: true }),
  },
  {
    name: "mute",
    description: "Does not stream",
    streaming: false,
    run: task => task.text,
  },
  {
    name: "needy",
    description: "Needs an extension and likes another",
    extensions: [
      { uri: "https://extensions.example/needed/v1", description: "Needed", required: true },
      { uri: "https://extensions.example/nice/v1", params: { level: 3 } },
    ],
    run: task => task.text,
  },
  {
    name: "locked",
    description: "Wants credentials first",
    run(task) {
      if (task.turn > 1) return "Thank you";
      const message = {
        messageId: "sign-in",
        role: "agent" as const,
        parts: [{ kind: "text" as const, text: "Sign in at https://login.example/" }],
        taskId: task.id,
        contextId: task.contextId,
      };
      return { type: "status", state: "auth-required", message };
    },
  },
  {
    name: "babbling",
    description: "Says what is no word of an agent",
    async *run() {
      yield { type: "status", state: "submitted" } as never;
    },
  },
  {
    name: "doubter",
    description: "Asks two things at once",
    run(task, ctx) {
      if (task.turn === 1) return ctx.askAll({ "interrupt-1": "Which seat?", "interrupt-2": "Which meal?" });
      return ctx.data(task.answers, { name: "answers" });
    },
  },
  {
    name: "form",
    description: "Takes data, and no messages",
    inputSchema: { type: "object", properties: { locale: { type: "string" } } },
    run: (task, ctx) => ctx.data(task.input, { name: "input" }),
  },
  {
    name: "trip",
    description: "Has two skills, each with a schema",
    skills: [
      { id: "forecast", input: z.object({ city: z.string(), days: z.number().int().default(1) }) },
      {
        id: "route",
        input: {
          type: "object",
          properties: { from: { type: "string" }, stops: { type: "array", items: { type: "string" } } },
          required: ["from"],
        },
        output: z.object({ km: z.number() }),
      },
    ],
    run: (task, ctx) => ctx.data({ skill: task.skill, input: task.input }, { name: "seen" }),
  },
  {
    name: "summarizer",
    description: "Sums up, and says so",
    async *run(_task, ctx) {
      yield ctx.text("...", { name: "summary", last: true });
      const parts = [{ kind: "text" as const, text: "Here is the summary..." }];
      yield { type: "status", state: "completed", message: { messageId: "here", role: "agent", parts } };
    },
  },
  {
    name: "doer",
    description: "Says that it is done",
    run: (_task, ctx) => ctx.reply("Done."),
  },
  {
    name: "chronicler",
    description: "Tells how it came to its answer",
    stateTransitionHistory: true,
    run: (task, ctx) => (task.turn === 1 ? ctx.ask("Since when?") : `Since ${task.text}`),
  },
  {
    name: "meter",
    description: "Tells what it has spent",
    async *run(task, ctx) {
      yield ctx.text("Summary of ");
      ctx.usage({ inputTokens: 142, outputTokens: 218 });
      yield ctx.text(task.text);
    },
  },
  {
    name: "hidden",
    description: "Works for other agents only",
    access: "internal",
    run: task => task.text,
  },
  {
    name: "discreet",
    description: "Sends no push notifications",
    push: false,
    run: task => task.text,
  },
  {
    name: "confidant",
    description: "Tells more to those whom it knows",
    extendedCard: ({ principal }) => ({ description: `Tells ${principal} more` }),
    run: task => task.text,
  },
  {
    name: "deputy",
    description: "Acts for its caller elsewhere",
    run: async (_task, ctx) =>
      (await ctx.credentials("mail"))
        ? ctx.text("Sent", { last: true })
        : ctx.askAuth({ name: "mail", scheme: "basic", scopes: ["send"], description: "To send your mail." }),
  },
  {
    name: "refuser",
    description: "To get a task whose id is the code of a fault is that fault",
    run: task => task.text,
  },
];

const createWaiting = (resume: ResumeSignal): readonly AgentDefinition[] => [
  {
    name: "patient",
    description: "Waits until the story goes on",
    replies: "task",
    async *run(task, ctx) {
      yield ctx.status("Looking into it");
      await resume.wait(ctx.signal);
      if (!ctx.signal.aborted) yield ctx.text(`Found: ${task.text}`, { last: true });
    },
  },
];
