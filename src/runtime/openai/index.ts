/** Agents that are models behind an OpenAI-compatible endpoint: `openai({ name, baseUrl, model })`. */
import { type AgentDefinition, type AgentTask, agent, type Ctx, type Said } from "../../agent/definition.ts";
import type { JsonObject } from "../../lib/json.ts";
import { withCause } from "../../model/index.ts";
import { equippable, type Surroundings } from "../shared/bind-environment.ts";
import { FileRefusal } from "../shared/files.ts";
import { cutShort, FILTERED } from "../shared/finish-reason.ts";
import { HISTORY_DEFAULT, HISTORY_MAX, keepTurn, type Past, readPast } from "../shared/history.ts";
import {
  checkOptions,
  type Described,
  describedIn,
  ms,
  needed,
  RULES,
  type Rules,
  whole,
} from "../shared/options.ts";
import { assistantText, toAssistant, toSystem, toUser } from "./chat.ts";
import { EndpointError } from "./endpoint-error.ts";
import { ask, type Endpoint } from "./request.ts";

export interface OpenAiOptions extends Described {
  /** Where the API begins: https://api.openai.com/v1, http://127.0.0.1:11434/v1 */
  readonly baseUrl: string;
  readonly model: string;
  /** The variable of the server's environment that holds the key. */
  readonly keyEnv?: string | undefined;
  /** The key itself, in code that has it from elsewhere. Neither: the endpoint wants none. */
  readonly key?: string | undefined;
  /** What the model is told before everything else. */
  readonly system?: string | undefined;
  /** Passed on as they are: temperature, max_tokens, … `stream: false` for an endpoint that cannot. */
  readonly params?: JsonObject | undefined;
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How many messages of earlier tasks of the context the model gets; default: 100. */
  readonly history?: number | undefined;
  /** Whether callers get the model's reasoning, as an artifact of its own; default: no. */
  readonly reasoning?: boolean | undefined;
  /** How often a call that failed is made again; default: 3. */
  readonly retries?: number | undefined;
  /** How long the first piece of an answer may take, in milliseconds; default: two minutes. */
  readonly firstTokenMs?: number | undefined;
  /** How long any other piece may take; default: one minute. */
  readonly idleMs?: number | undefined;
}

const isUrl = (value: unknown): boolean =>
  typeof value === "string" && /^https?:$/.test(URL.parse(value)?.protocol ?? "");

const OPTION_RULES: Rules<OpenAiOptions> = {
  baseUrl: needed({ expected: 'a URL, such as "https://api.openai.com/v1"', is: isUrl }),
  model: needed(RULES.text),
  keyEnv: RULES.text,
  key: RULES.text,
  system: RULES.text,
  params: RULES.object,
  headers: RULES.texts,
  history: whole(0, HISTORY_MAX),
  reasoning: RULES.truth,
  retries: whole(0, 20),
  firstTokenMs: ms(1),
  idleMs: ms(1),
};
const DEFAULTS = { retries: 3, firstTokenMs: 120_000, idleMs: 60_000 };

export function openai(options: OpenAiOptions): AgentDefinition {
  checkOptions("openai()", options, OPTION_RULES);
  let { key } = options;
  const definition: AgentDefinition = {
    description: `The model ${options.model}`,
    ...describedIn(options),
    run: (task, ctx) => run({ options, key, task, ctx }),
  };
  const equip = ({ variable }: Surroundings): void => {
    const { keyEnv } = options;
    if (keyEnv === undefined) return;
    key = variable(keyEnv);
    if (!key) throw new Error(`The variable ${keyEnv} is not set: it holds the key for ${options.baseUrl}`);
  };
  return agent(equippable(definition, equip));
}

interface RunParts {
  readonly options: OpenAiOptions;
  readonly key: string | undefined;
  readonly task: AgentTask;
  readonly ctx: Ctx;
}

async function* run(parts: RunParts): AsyncGenerator<Said> {
  const { options, task, ctx } = parts;
  // A note makes it a turn that is resumed: after a crash, words that come again are not said again.
  await ctx.now();
  const past = await readPast(task, ctx, options.history ?? HISTORY_DEFAULT);
  const kept = past.turns[task.turn - 1];
  try {
    if (kept) yield ctx.text(assistantText(kept.at(-1)));
    else yield* answer(parts, past);
  } catch (error) {
    if (error instanceof FileRefusal) return yield ctx.reject(error.message);
    if (!(error instanceof EndpointError) || error.words === undefined) throw error;
    ctx.log.warn({ err: error, taskId: task.id }, "a model did not answer");
    yield withCause(ctx.fail(error.words), error);
  }
}

async function* answer({ options, key, task, ctx }: RunParts, past: Past): AsyncGenerator<Said> {
  const { model, system, params } = options;
  const user = await toUser(task, ctx);
  const messages = [
    ...(system === undefined ? [] : [toSystem(system)]),
    ...past.earlier,
    ...past.turns.flat(),
    user,
  ];
  const streaming = params?.stream === false ? {} : { stream: true, stream_options: { include_usage: true } };
  const words = new Words(task, ctx);
  let refusal = "";
  let reason = "";
  const body = { ...streaming, ...params, model, messages };
  for await (const piece of ask(toEndpoint(options, key), body, ctx)) {
    if (piece.kind === "text") yield words.say(piece.text);
    else if (piece.kind === "reasoning") {
      if (options.reasoning) yield ctx.text(piece.text, { name: "reasoning" });
    } else if (piece.kind === "refusal") refusal += piece.text;
    else if (piece.kind === "usage") ctx.usage(piece.usage);
    else if (piece.kind === "end") reason = piece.reason;
    else {
      words.void();
      refusal = "";
    }
  }
  if (refusal !== "") return yield ctx.reject(refusal);
  if (reason === "content_filter") return yield ctx.fail(FILTERED);
  if (words.text !== "") await keepTurn(task, ctx, past, [user, toAssistant(words.text)], false);
  if (reason === "length") yield cutShort(ctx, words.at);
}

/** What the model has said in this turn. */
class Words {
  readonly #ctx: Ctx;
  readonly at: { readonly artifactId: string; readonly name: string };
  #isVoid = false;
  text = "";

  constructor(task: AgentTask, ctx: Ctx) {
    this.#ctx = ctx;
    this.at = { artifactId: task.turn > 1 ? `response-${task.turn}` : "response", name: "response" };
  }

  say(text: string): Said {
    const replaces = this.#isVoid;
    this.#isVoid = false;
    this.text += text;
    return replaces ? this.#ctx.artifact({ ...this.at, parts: text }) : this.#ctx.text(text, this.at);
  }

  /** A new answer begins: what was said of the old one is replaced by the first of its words. */
  void(): void {
    this.#isVoid ||= this.text !== "";
    this.text = "";
  }
}

function toEndpoint(options: OpenAiOptions, key: string | undefined): Endpoint {
  const url = new URL(options.baseUrl);
  url.pathname = `${url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}/chat/completions`;
  const {
    retries = DEFAULTS.retries,
    firstTokenMs = DEFAULTS.firstTokenMs,
    idleMs = DEFAULTS.idleMs,
  } = options;
  return {
    url: url.href,
    key,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...(key && { authorization: `Bearer ${key}` }),
      ...options.headers,
    },
    retries,
    firstTokenMs,
    idleMs,
  };
}
