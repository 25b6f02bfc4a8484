/** Agents that are models behind an OpenAI-compatible endpoint: `openai({ name, baseUrl, model })`. */
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import { type AgentDefinition, agent } from "../../agent/definition.ts";
import type { JsonObject } from "../../lib/json.ts";
import { withCause } from "../../model/index.ts";
import { type Environment, withEnvironment } from "../shared/bind-environment.ts";
import { FileError } from "../shared/files.ts";
import { CONTENT_FILTERED, toTruncated } from "../shared/finish-reason.ts";
import { HISTORY_DEFAULT, HISTORY_MAX, type History, readHistory, saveTurn } from "../shared/history.ts";
import {
  type CommonOptions,
  checkOptions,
  httpUrl,
  integer,
  milliseconds,
  type OptionRules,
  pickCommonOptions,
  RULES,
  required,
} from "../shared/options.ts";
import { assistantText, toUser } from "./chat.ts";
import { EndpointError } from "./endpoint-error.ts";
import { type ModelEndpoint, requestCompletion } from "./request.ts";

export interface OpenAiOptions extends CommonOptions {
  /** The base URL of the API: https://api.openai.com/v1, http://127.0.0.1:11434/v1 */
  readonly baseUrl: string;
  readonly model: string;
  /** The name of the environment variable with the API key. */
  readonly keyEnv?: string | undefined;
  /** The API key itself. Neither `key` nor `keyEnv`: the endpoint needs none. */
  readonly key?: string | undefined;
  /** The system message. */
  readonly system?: string | undefined;
  /** Further members of the request: temperature, max_tokens, … `stream: false` for an endpoint that cannot stream. */
  readonly params?: JsonObject | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The number of messages of earlier tasks of the context that the model gets; default: 100. */
  readonly history?: number | undefined;
  /** Whether callers get the reasoning of the model, as a separate artifact; default: false. */
  readonly reasoning?: boolean | undefined;
  /** The number of retries of a failed request; default: 3. */
  readonly retries?: number | undefined;
  /** The timeout of the first chunk of a response, in milliseconds; default: two minutes. */
  readonly firstTokenMs?: number | undefined;
  /** The timeout of every further chunk; default: one minute. */
  readonly idleMs?: number | undefined;
}

const OPTION_RULES: OptionRules<OpenAiOptions> = {
  baseUrl: required(httpUrl("https://api.openai.com/v1")),
  model: required(RULES.string),
  keyEnv: RULES.string,
  key: RULES.string,
  system: RULES.string,
  params: RULES.object,
  headers: RULES.stringRecord,
  history: integer(0, HISTORY_MAX),
  reasoning: RULES.boolean,
  retries: integer(0, 20),
  firstTokenMs: milliseconds(1),
  idleMs: milliseconds(1),
};

export function openai(options: OpenAiOptions): AgentDefinition {
  checkOptions("openai()", options, OPTION_RULES);
  let { key } = options;
  const definition: AgentDefinition = {
    description: `The model ${options.model}`,
    ...pickCommonOptions(options),
    run: (task, ctx) => run({ options, key, task, ctx }),
  };
  const bind = ({ variable }: Environment): void => {
    const { keyEnv, baseUrl } = options;
    if (keyEnv === undefined) return;
    key = variable(keyEnv);
    if (!key)
      throw new Error(
        `The environment variable ${keyEnv} is not set: it contains the API key for ${baseUrl}`,
      );
  };
  return agent(withEnvironment(definition, bind));
}

interface OpenAiRun {
  readonly options: OpenAiOptions;
  readonly key: string | undefined;
  readonly task: AgentTask;
  readonly ctx: Ctx;
}

async function* run(parts: OpenAiRun): AsyncGenerator<AgentOutput> {
  const { options, task, ctx } = parts;
  // A recorded value makes the turn resumable: after a crash the runner skips output that was recorded before.
  await ctx.now();
  const history = await readHistory(task, ctx, options.history ?? HISTORY_DEFAULT);
  const saved = history.turns[task.turn - 1];
  try {
    if (saved) yield ctx.text(assistantText(saved.at(-1)));
    else yield* complete(parts, history);
  } catch (error) {
    if (error instanceof FileError) return yield ctx.reject(error.message);
    if (!(error instanceof EndpointError) || error.callerMessage === undefined) throw error;
    ctx.log.warn({ err: error, taskId: task.id }, "a model request failed");
    yield withCause(ctx.fail(error.callerMessage), error);
  }
}

async function* complete(
  { options, key, task, ctx }: OpenAiRun,
  history: History,
): AsyncGenerator<AgentOutput> {
  const { model, system, params } = options;
  const user = await toUser(task, ctx);
  const messages = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    ...history.earlier,
    ...history.turns.flat(),
    user,
  ];
  const streaming = params?.stream === false ? {} : { stream: true, stream_options: { include_usage: true } };
  const response = new ResponseText(task, ctx);
  let refusal = "";
  let finishReason = "";
  const body = { ...streaming, ...params, model, messages };
  for await (const event of requestCompletion(toEndpoint(options, key), body, ctx)) {
    if (event.kind === "text") yield response.append(event.text);
    else if (event.kind === "reasoning") {
      if (options.reasoning) yield ctx.text(event.text, { name: "reasoning" });
    } else if (event.kind === "refusal") refusal += event.text;
    else if (event.kind === "usage") ctx.usage(event.usage);
    else if (event.kind === "end") finishReason = event.reason;
    else {
      response.restart();
      refusal = "";
    }
  }
  if (refusal !== "") return yield ctx.reject(refusal);
  if (finishReason === "content_filter") return yield ctx.fail(CONTENT_FILTERED);
  const assistant = { role: "assistant", content: response.text };
  if (response.text !== "") await saveTurn(task, ctx, history, [user, assistant], false);
  if (finishReason === "length") yield toTruncated(ctx, response.artifact);
}

/** The text of the response; after a retry the first chunk replaces the text of the failed request. */
class ResponseText {
  readonly #ctx: Ctx;
  readonly artifact: { readonly artifactId: string; readonly name: string };
  #replaces = false;
  text = "";

  constructor(task: AgentTask, ctx: Ctx) {
    this.#ctx = ctx;
    this.artifact = { artifactId: task.turn > 1 ? `response-${task.turn}` : "response", name: "response" };
  }

  append(text: string): AgentOutput {
    const replaces = this.#replaces;
    this.#replaces = false;
    this.text += text;
    return replaces
      ? this.#ctx.artifact({ ...this.artifact, parts: text })
      : this.#ctx.text(text, this.artifact);
  }

  restart(): void {
    this.#replaces ||= this.text !== "";
    this.text = "";
  }
}

function toEndpoint(options: OpenAiOptions, key: string | undefined): ModelEndpoint {
  const url = new URL(options.baseUrl);
  url.pathname = `${url.pathname.replace(/(?:\/chat\/completions)?\/*$/, "")}/chat/completions`;
  const { retries = 3, firstTokenMs = 120_000, idleMs = 60_000 } = options;
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
