/** Webhooks of runs: one delivery at the end of each, by the outbox of push notifications. */
import { defined, type Json, type JsonObject } from "../lib/json.ts";
import {
  isSettled,
  LIMITS,
  type PushConfig,
  type Scope,
  type Step,
  type WebhookRules,
} from "../model/index.ts";
import type { PushEncoder, SendRequest, Store, Targets } from "../ports/index.ts";
import { invalidField, readString } from "../protocol/shared/fields.ts";
import { toIso } from "./fields.ts";
import type { FoundRun, RunRecords } from "./run-records.ts";
import { toError } from "./stream-modes.ts";
import type { ThreadStates } from "./thread-state.ts";

/** The origin of their push configs. */
const ORIGIN = "langgraph-api";

export interface WebhookReaderParts {
  /** undefined: none. */
  readonly rules: WebhookRules | undefined;
  /** undefined: webhooks are switched off. */
  readonly targets: Targets | undefined;
  /** Where this server is reached. */
  readonly ownBase: () => string | undefined;
}

/** undefined: none. A path is one of this server. */
export function readWebhook(
  { rules, targets, ownBase }: WebhookReaderParts,
  body: JsonObject,
): string | undefined {
  const given = readString(body, "webhook", "");
  if (given === undefined) return undefined;
  if (!targets) throw invalidField("webhook", "is switched off (http.disable_webhooks)");
  const isPath = given.startsWith("/");
  if (isPath && rules?.isLoopbackOff) throw invalidField("webhook", "must be a URL: paths are switched off");
  const url = isPath ? `${ownBase() ?? ""}${given}` : given;
  if (!URL.canParse(url)) throw invalidField("webhook", "must be a URL, or a path of this server");
  const problem =
    targets.refusalOf(new URL(url)) ?? (isPath || !rules ? undefined : refusalOf(new URL(url), rules));
  if (problem) throw invalidField("webhook", problem);
  return url;
}

function refusalOf(url: URL, rules: WebhookRules): string | undefined {
  const { allowedDomains, allowedPorts } = rules;
  if (url.href.length > rules.urlCharsMax) return `must have at most ${rules.urlCharsMax} characters`;
  if (rules.requiresHttps && url.protocol !== "https:") return "must be an https URL";
  const isListed = (domain: string): boolean =>
    domain.startsWith("*.") ? url.hostname.endsWith(domain.slice(1)) : url.hostname === domain;
  if (allowedDomains && !allowedDomains.some(isListed)) return "has a host that is not allowed";
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (allowedPorts && !allowedPorts.includes(port)) return "has a port that is not allowed";
  return undefined;
}

/** The id of the config is that of the run: each run of a task has a webhook of its own. */
export const toPush = (url: string, runId: string): NonNullable<SendRequest["push"]> => ({
  field: "webhook",
  config: { id: runId, url, origin: ORIGIN, events: "status" },
});

export interface WebhookEncoderParts {
  readonly store: Pick<Store, "log">;
  readonly runs: RunRecords;
  readonly states: ThreadStates;
  readonly wallTime: () => number;
  readonly rules: WebhookRules | undefined;
}

export function createWebhookEncoder(parts: WebhookEncoderParts): PushEncoder {
  const { store, runs, states } = parts;

  /** Of the run at its end, also if the thread has gone on since. */
  async function readPayload(scope: Scope, runId: string, { task, at }: Step): Promise<Json> {
    const found = await runs.requireAnywhere(scope, runId);
    const run: FoundRun = { ...found, task, isCurrent: true };
    const { state } = task.status;
    const hasFailed = state === "failed" || state === "rejected";
    return defined<JsonObject>({
      ...runs.toJson(run),
      run_started_at: toIso(await readStart(scope, run)),
      run_ended_at: toIso(at),
      webhook_sent_at: toIso(parts.wallTime()),
      values: (await states.readRunState(scope, run)).values,
      error: hasFailed ? toError(task.status).message : undefined,
    });
  }

  async function readStart(scope: Scope, { task, seq, createdAt }: FoundRun): Promise<number> {
    const steps = await store.log.read(scope, task.id, seq, LIMITS.readMax);
    return steps.find(({ event }) => event?.type === "started")?.at ?? createdAt;
  }

  return {
    name: ORIGIN,
    encodePush(step: Step, { id }: PushConfig, scope: Scope) {
      const { task, event } = step;
      const isEnd = isSettled(task.status.state) && event?.type !== "message";
      if (!isEnd || task.message?.messageId !== id) return null;
      const readBody = (): Promise<Json> => readPayload(scope, id, step);
      const headers = parts.rules?.headers ?? {};
      return { type: "application/json", body: null, readBody, headers, isLast: true };
    },
  };
}
