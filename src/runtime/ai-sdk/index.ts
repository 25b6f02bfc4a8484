/** Agents of the Vercel AI SDK: `export default aiSdk(agent, { name: "assistant" })`. */
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import { type AgentDefinition, agent, definitionError } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { FileError, readParts } from "../shared/files.ts";
import { CONTENT_FILTERED, toTruncated } from "../shared/finish-reason.ts";
import { HISTORY_DEFAULT, HISTORY_MAX, readHistory, saveTurn } from "../shared/history.ts";
import {
  type CommonOptions,
  checkOptions,
  integer,
  isRecord,
  type OptionRules,
  pickCommonOptions,
  RULES,
} from "../shared/options.ts";
import { OutputWriter } from "../shared/output-writer.ts";
import { relay } from "../shared/relay.ts";
import type { AiSdkSource, ModelMessage, StreamingAgent } from "./agent.ts";
import { findOpenCalls } from "./open-calls.ts";
import { toAnswer, toQuestions } from "./questions.ts";
import { type RecordedStep, StepRunner } from "./step-runner.ts";

export type { AiSdkSource as AgentSource, StreamingAgent } from "./agent.ts";

export interface AiSdkOptions extends CommonOptions {
  /** Whether callers get tool calls and their results, as data; default: true. */
  readonly tools?: boolean | undefined;
  /** Whether callers get the reasoning of the model, as a separate artifact; default: false. */
  readonly reasoning?: boolean | undefined;
  /** Between the texts of two steps; default: an empty line. */
  readonly separator?: string | undefined;
  /** The number of messages of earlier tasks of the context that the model gets; default: 100. */
  readonly history?: number | undefined;
  /** Returns the call options of an agent with a `callOptionsSchema`. */
  readonly options?: ((task: AgentTask, ctx: Ctx) => unknown) | undefined;
}

const OPTION_RULES: OptionRules<AiSdkOptions> = {
  tools: RULES.boolean,
  reasoning: RULES.boolean,
  separator: RULES.stringOrEmpty,
  history: integer(0, HISTORY_MAX),
  options: RULES.function,
};

/** `source`: an agent of the AI SDK, or a function that creates one for each run. */
export function aiSdk(source: AiSdkSource, options: AiSdkOptions): AgentDefinition {
  checkOptions("aiSdk()", options, OPTION_RULES);
  if (typeof source !== "function") checkAgent(source);
  return agent({ ...pickCommonOptions(options), run: (task, ctx) => run({ source, options, task, ctx }) });
}

interface AiSdkRun {
  readonly source: AiSdkSource;
  readonly options: AiSdkOptions;
  readonly task: AgentTask;
  readonly ctx: Ctx;
}

function checkAgent(source: unknown): StreamingAgent {
  const { stream } = isRecord(source) ? source : {};
  if (typeof stream === "function") return source as StreamingAgent;
  throw definitionError(
    "aiSdk() takes an agent of the AI SDK: aiSdk(new ToolLoopAgent({ model }), { name })",
  );
}

async function* run(parts: AiSdkRun): AsyncGenerator<AgentOutput> {
  const { options, task, ctx } = parts;
  // A recorded value makes the turn resumable: after a crash the runner skips output that was recorded before.
  await ctx.now();
  const history = await readHistory(task, ctx, options.history ?? HISTORY_DEFAULT);
  const before = history.turns.slice(0, task.turn - 1).flat();
  const asked = findOpenCalls(before as unknown as readonly ModelMessage[]);
  try {
    const message = asked.length === 0 ? await toUser(task, ctx) : toAnswer(task, asked);
    if (message === undefined) return yield toQuestions(task, asked);
    const turn = new AgentTurn(parts, [...history.earlier, ...before, message]);
    yield* turn.run();
    if (turn.finishReason === "content-filter") return yield ctx.fail(CONTENT_FILTERED);
    const messages = [message, ...turn.messages];
    const open = findOpenCalls([...before, ...messages] as unknown as readonly ModelMessage[]);
    await saveTurn(task, ctx, history, messages, open.length > 0);
    if (open.length > 0) return yield toQuestions(task, open);
    if (turn.finishReason === "length") yield toTruncated(ctx);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    yield ctx.reject(error.message);
  }
}

/** The steps of one turn: first the recorded ones, then the new ones. */
class AgentTurn {
  readonly #parts: AiSdkRun;
  readonly #before: readonly Json[];
  /** The messages of the agent and its tools in this turn. */
  readonly messages: Json[] = [];
  finishReason: string | undefined;

  /** `before`: all messages before the first step. */
  constructor(parts: AiSdkRun, before: readonly Json[]) {
    this.#parts = parts;
    this.#before = before;
  }

  async *run(): AsyncGenerator<AgentOutput> {
    const { options, ctx } = this.#parts;
    const writer = new OutputWriter(ctx, options.separator ?? "\n\n");
    let runner: StepRunner | undefined;
    try {
      for (;;) {
        let isNew = false;
        const step = yield* relay(emit =>
          ctx.step("step", async (): Promise<RecordedStep> => {
            isNew = true;
            runner ??= await this.#createRunner();
            return runner.step([...this.#before, ...this.messages], {
              onStepStart: () => writer.beginParagraph(),
              onOutput: async output => {
                for (const event of writer.write(output)) await emit(event);
              },
            });
          }),
        );
        if (!isNew) yield* replay(writer, step);
        if (step.isEnd) return;
        this.messages.push(...step.messages);
        this.finishReason = step.finishReason ?? this.finishReason;
      }
    } finally {
      runner?.close();
    }
  }

  async #createRunner(): Promise<StepRunner> {
    const { source, options, task, ctx } = this.#parts;
    const agent = checkAgent(typeof source === "function" ? await source(task, ctx) : source);
    const { tools = true, reasoning = false } = options;
    return new StepRunner({
      agent,
      options: options.options?.(task, ctx),
      ctx,
      filter: { tools, reasoning },
    });
  }
}

function* replay(writer: OutputWriter, { words: outputs }: RecordedStep): Generator<AgentOutput> {
  writer.beginParagraph();
  for (const output of outputs) yield* writer.write(output);
}

async function toUser(task: AgentTask, ctx: Ctx): Promise<JsonObject> {
  const content: JsonObject[] = [];
  for await (const part of readParts(task, ctx)) {
    if (typeof part === "string") content.push({ type: "text", text: part });
    else {
      const { name: filename, mediaType, bytes } = part;
      content.push({ type: "file", filename, mediaType, data: Buffer.from(bytes).toString("base64") });
    }
  }
  return { role: "user", content };
}
