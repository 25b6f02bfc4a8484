import type { Ctx, AgentOutput } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";

/** What a puppet says next; it may throw, as agents do. */
export type Line = (ctx: Ctx) => AgentOutput;

const END = Symbol("end");

interface Strings {
  readonly lines: (Line | typeof END)[];
  pull(): void;
}

/** An agent that does nothing by itself: a test moves each of its tasks from outside. */
export function createPuppet(more: Partial<AgentDefinition> = {}) {
  const held = new Map<string, Strings>();
  const of = (taskId: string): Strings => {
    let strings = held.get(taskId);
    if (!strings) held.set(taskId, (strings = { lines: [], pull: () => {} }));
    return strings;
  };
  const give = (taskId: string, line: Line | typeof END): void => {
    of(taskId).lines.push(line);
    of(taskId).pull();
  };

  const definition: AgentDefinition = {
    name: "puppet",
    // Its callers see a task from the start, not only from its first word on.
    replies: "task",
    ...more,
    async *run(task, ctx) {
      const strings = of(task.id);
      ctx.signal.addEventListener("abort", () => strings.pull());
      for (;;) {
        while (strings.lines.length === 0 && !ctx.signal.aborted)
          await new Promise<void>(resolve => (strings.pull = resolve));
        if (ctx.signal.aborted) return;
        const line = strings.lines.shift();
        if (line === END) return;
        yield (line as Line)(ctx);
      }
    },
  };
  return {
    definition,
    /** The task's next word. */
    say: (taskId: string, line: Line): void => give(taskId, line),
    /** The agent returns. */
    end: (taskId: string): void => give(taskId, END),
  };
}

/** Says in an artifact what it was sent, part by part. */
export const mirror: AgentDefinition = {
  name: "mirror",
  inputModes: ["*/*"],
  async *run(task, ctx) {
    yield ctx.artifact({ artifactId: "mirror", name: "mirror", parts: task.message.parts, last: true });
  },
};

/** Says in text what it was sent. */
export const echo: AgentDefinition = {
  name: "echo",
  async *run(task, ctx) {
    yield ctx.text(task.text);
  },
};

/** Answers with a bare message, and has said so. */
export const replier: AgentDefinition = {
  name: "replier",
  replies: "message",
  run: (task, ctx) => ctx.reply(`re: ${task.text}`),
};

/** Asks once, then ends with the answer. */
export const asker: AgentDefinition = {
  name: "asker",
  async *run(task, ctx) {
    if (task.turn === 1) yield ctx.ask("Which one?");
    else yield ctx.text(`You chose ${task.text}`);
  },
};
