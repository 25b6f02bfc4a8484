/** Agents of the Vercel AI SDK: `export default aiSdk(agent, { name: "assistant" })`. */
import { type AgentDefinition, type AgentTask, agent, type Ctx, type Said } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { type FileBytes, FileRefusal, readParts } from "../shared/files.ts";
import { cutShort, FILTERED } from "../shared/finish-reason.ts";
import { HISTORY_DEFAULT, HISTORY_MAX, keepTurn, readPast } from "../shared/history.ts";
import {
  checkOptions,
  type Described,
  describedIn,
  isRecord,
  RULES,
  type Rules,
  whole,
  wrong,
} from "../shared/options.ts";
import { relay } from "../shared/relay.ts";
import type { AgentSource, Message, StreamingAgent } from "./agent.ts";
import { openIn } from "./open-calls.ts";
import { Voice, type VoiceSettings } from "./output-writer.ts";
import { toAnswer, toQuestions } from "./questions.ts";
import { type Kept, Live } from "./step-recorder.ts";

export type { AgentSource, StreamingAgent } from "./agent.ts";

export interface AiSdkOptions extends Described {
  /** Whether callers get the calls of tools and what they gave, as data; default: true. */
  readonly tools?: boolean | undefined;
  /** Whether callers get the model's reasoning, as an artifact of its own; default: false. */
  readonly reasoning?: boolean | undefined;
  /** Between the words of two steps; default: an empty line. */
  readonly separator?: string | undefined;
  /** How many messages of earlier tasks of the context the model gets; default: 100. */
  readonly history?: number | undefined;
  /** What an agent with a `callOptionsSchema` is called with. */
  readonly options?: ((task: AgentTask, ctx: Ctx) => unknown) | undefined;
}

const OPTION_RULES: Rules<AiSdkOptions> = {
  tools: RULES.truth,
  reasoning: RULES.truth,
  separator: { expected: "a text", is: value => typeof value === "string" },
  history: whole(0, HISTORY_MAX),
  options: { expected: "a function", is: value => typeof value === "function" },
};

/** Makes an agent of one of the AI SDK, or of a function that makes one for each run. */
export function aiSdk(source: AgentSource, options: AiSdkOptions): AgentDefinition {
  checkOptions("aiSdk()", options, OPTION_RULES);
  if (typeof source !== "function") checkAgent(source);
  return agent({ ...describedIn(options), run: (task, ctx) => run({ source, options, task, ctx }) });
}

interface RunParts {
  readonly source: AgentSource;
  readonly options: AiSdkOptions;
  readonly task: AgentTask;
  readonly ctx: Ctx;
}

function checkAgent(source: unknown): StreamingAgent {
  const { stream } = isRecord(source) ? source : {};
  if (typeof stream === "function") return source as StreamingAgent;
  throw wrong("aiSdk() takes an agent of the AI SDK: aiSdk(new ToolLoopAgent({ model }), { name })");
}

async function* run({ source, options, task, ctx }: RunParts): AsyncGenerator<Said> {
  // A note makes it a turn that is resumed: after a crash, words that come again are not said again.
  await ctx.now();
  const past = await readPast(task, ctx, options.history ?? HISTORY_DEFAULT);
  const before = past.turns.slice(0, task.turn - 1).flat();
  const asked = openIn(before as unknown as readonly Message[]);
  try {
    const message = asked.length === 0 ? await toUser(task, ctx) : toAnswer(task, asked);
    if (message === undefined) return yield toQuestions(task, asked);
    const work = new Work({ source, options, task, ctx }, [...past.earlier, ...before, message]);
    yield* work.run();
    if (work.finishReason === "content-filter") return yield ctx.fail(FILTERED);
    const said = [message, ...work.said];
    const open = openIn([...before, ...said] as unknown as readonly Message[]);
    await keepTurn(task, ctx, past, said, open.length > 0);
    if (open.length > 0) return yield toQuestions(task, open);
    if (work.finishReason === "length") yield cutShort(ctx);
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    yield ctx.reject(error.message);
  }
}

/** The steps of one turn: those on record first, then those that are new. */
class Work {
  readonly #parts: RunParts;
  readonly #before: readonly Json[];
  /** What the agent and its tools have said in this turn. */
  readonly said: Json[] = [];
  finishReason: string | undefined;

  /** `before`: all that was said so far, by whomever. */
  constructor(parts: RunParts, before: readonly Json[]) {
    this.#parts = parts;
    this.#before = before;
  }

  async *run(): AsyncGenerator<Said> {
    const { options, ctx } = this.#parts;
    const settings = toSettings(options);
    const voice = new Voice(ctx, settings);
    let live: Live | undefined;
    try {
      for (;;) {
        let isNew = false;
        const kept = yield* relay(say =>
          ctx.step("step", async (): Promise<Kept> => {
            isNew = true;
            live ??= await this.#begin(settings);
            return live.step([...this.#before, ...this.said], {
              beginStep: () => voice.beginStep(),
              hear: words => say(voice.say(words)),
            });
          }),
        );
        if (!isNew) yield* again(voice, kept);
        if (kept.isEnd) return;
        this.said.push(...kept.messages);
        this.finishReason = kept.finishReason ?? this.finishReason;
      }
    } finally {
      live?.close();
    }
  }

  async #begin(settings: VoiceSettings): Promise<Live> {
    const { source, options, task, ctx } = this.#parts;
    const agent = checkAgent(typeof source === "function" ? await source(task, ctx) : source);
    return new Live({ agent, options: options.options?.(task, ctx), ctx, settings });
  }
}

function* again(voice: Voice, { words }: Kept): Generator<Said> {
  voice.beginStep();
  for (const one of words) yield voice.say(one);
}

const toSettings = ({
  tools = true,
  reasoning = false,
  separator = "\n\n",
}: AiSdkOptions): VoiceSettings => ({
  tools,
  reasoning,
  separator,
});

async function toUser(task: AgentTask, ctx: Ctx): Promise<JsonObject> {
  const content: JsonObject[] = [];
  for await (const part of readParts(task, ctx))
    content.push(typeof part === "string" ? { type: "text", text: part } : toFile(part));
  return { role: "user", content };
}

const toFile = ({ name, mediaType, bytes }: FileBytes): JsonObject => ({
  type: "file",
  filename: name,
  mediaType,
  data: Buffer.from(bytes).toString("base64"),
});
