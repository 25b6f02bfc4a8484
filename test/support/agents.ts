import type { AgentOutput, Ctx } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";

/** An output of a scripted agent; it may throw, as agents do. */
export type ScriptedOutput = (ctx: Ctx) => AgentOutput;

const END = Symbol("end");

interface Script {
  readonly outputs: (ScriptedOutput | typeof END)[];
  wake(): void;
}

/** A scripted agent: a test controls each of its tasks from outside. */
export function createScriptedAgent(more: Partial<AgentDefinition> = {}) {
  const scripts = new Map<string, Script>();
  const of = (taskId: string): Script => {
    let script = scripts.get(taskId);
    if (!script) scripts.set(taskId, (script = { outputs: [], wake: () => {} }));
    return script;
  };
  const add = (taskId: string, output: ScriptedOutput | typeof END): void => {
    of(taskId).outputs.push(output);
    of(taskId).wake();
  };

  const definition: AgentDefinition = {
    name: "puppet",
    // Its callers see a task from the start, not only from its first output.
    replies: "task",
    ...more,
    async *run(task, ctx) {
      const script = of(task.id);
      ctx.signal.addEventListener("abort", () => script.wake());
      for (;;) {
        while (script.outputs.length === 0 && !ctx.signal.aborted)
          await new Promise<void>(resolve => (script.wake = resolve));
        if (ctx.signal.aborted) return;
        const output = script.outputs.shift();
        if (output === END) return;
        yield (output as ScriptedOutput)(ctx);
      }
    },
  };
  return {
    definition,
    /** The next output of the task. */
    send: (taskId: string, output: ScriptedOutput): void => add(taskId, output),
    /** The agent returns. */
    end: (taskId: string): void => add(taskId, END),
  };
}

/** Replies with the parts of its message, in an artifact. */
export const mirror: AgentDefinition = {
  name: "mirror",
  inputModes: ["*/*"],
  async *run(task, ctx) {
    yield ctx.artifact({ artifactId: "mirror", name: "mirror", parts: task.message.parts, last: true });
  },
};

/** Replies with the text of its message. */
export const echo: AgentDefinition = {
  name: "echo",
  async *run(task, ctx) {
    yield ctx.text(task.text);
  },
};

/** Replies with a bare message, and declares it. */
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
