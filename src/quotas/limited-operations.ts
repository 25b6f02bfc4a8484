import { countTokens, dayOf, Fault, LIMITS, type Quotas, type Scope, startOfDay } from "../model/index.ts";
import type { ExecuteOperation, Operation, Store } from "../ports/index.ts";
import { isStepStream } from "../ports/operation.ts";
import { createCallLimit } from "./call-rate.ts";
import { createStreamLimit } from "./open-streams.ts";
import { QUOTA_SUBJECTS, quotaOf, SUBJECT_NAMES } from "./quotas.ts";

export interface LimitParts {
  readonly quotas: Quotas;
  readonly store: Pick<Store, "tasks" | "runs" | "usage" | "nodes">;
  /** Days begin by it. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** Tasks of all callers that may wait for a run. */
  readonly queueMax: number;
}

/** Wraps operations with limits. Concurrent runs are limited where they are claimed from the queue. */
export function createLimitedOperations(parts: LimitParts): (execute: ExecuteOperation) => ExecuteOperation {
  const { quotas } = parts;
  const hasQuotas = Boolean(quotas.caller ?? quotas.tenant ?? quotas.tenants);
  const takeCall = createCallLimit(quotas, parts.ticks, parts.store.nodes);
  const streams = createStreamLimit(quotas, parts.store.nodes);

  const withQueueLimit =
    (execute: ExecuteOperation): ExecuteOperation =>
    (operation, scope, signal) => {
      if (isSend(operation) && isQueueFull(parts)) return Promise.reject(queueFull(parts));
      return execute(operation, scope, signal);
    };
  const withQuotas =
    (execute: ExecuteOperation): ExecuteOperation =>
    async (operation, scope, signal) => {
      if (isAboutAgents(operation)) return execute(operation, scope, signal);
      takeCall(scope);
      if (isSend(operation)) {
        if (isQueueFull(parts)) throw queueFull(parts);
        const isNew = operation.send.taskId === undefined;
        if (isNew && hasQuota(quotas, scope, "tasks")) await checkTasks(parts, scope);
        if (hasQuota(quotas, scope, "tokensPerDay")) await checkTokens(parts, scope);
      }
      if (operation.op !== "stream" && operation.op !== "subscribe") return execute(operation, scope, signal);
      streams.check(scope);
      const result = await execute(operation, scope, signal);
      return isStepStream(result) ? streams.count(scope, result) : result;
    };
  return hasQuotas ? withQuotas : withQueueLimit;
}

const isSend = (operation: Operation): operation is Operation & { readonly op: "send" | "stream" } =>
  operation.op === "send" || operation.op === "stream";

/** Cards are cheap, and the same for all callers. */
const isAboutAgents = ({ op }: Operation): boolean =>
  op === "card" || op === "agents" || op === "extended-card";

const QUEUE_RETRY_MS = 2_000;

const isQueueFull = ({ store, queueMax }: LimitParts): boolean => store.runs.waiting() >= queueMax;

const queueFull = ({ queueMax }: LimitParts): Fault =>
  new Fault("unavailable", `The queue is full (${queueMax} tasks); retry later`, {
    retryAfterMs: QUEUE_RETRY_MS,
  });

const hasQuota = (quotas: Quotas, scope: Scope, name: "tasks" | "tokensPerDay"): boolean =>
  QUOTA_SUBJECTS.some(subject => quotaOf(quotas, scope, subject)[name] !== undefined);

async function checkTasks({ quotas, store }: LimitParts, scope: Scope): Promise<void> {
  const counts = await store.tasks.count(scope);
  for (const subject of QUOTA_SUBJECTS) {
    const { tasks } = quotaOf(quotas, scope, subject);
    if (tasks !== undefined && counts[subject] >= tasks)
      throw new Fault(
        "rate-limited",
        `Quota exceeded: ${SUBJECT_NAMES[subject]} may have ${tasks} tasks; old ones are deleted by their agent's retention`,
        { retryAfterMs: LIMITS.sweepMs },
      );
  }
}

async function checkTokens({ quotas, store, wallTime }: LimitParts, scope: Scope): Promise<void> {
  const day = dayOf(wallTime());
  const spent = await store.usage.spent(scope, day);
  for (const subject of QUOTA_SUBJECTS) {
    const { tokensPerDay } = quotaOf(quotas, scope, subject);
    if (tokensPerDay !== undefined && countTokens(spent[subject]) >= tokensPerDay)
      throw new Fault(
        "rate-limited",
        `Quota exceeded: ${SUBJECT_NAMES[subject]} may spend ${tokensPerDay} tokens per day (UTC)`,
        { retryAfterMs: startOfDay(day + 1) - wallTime() },
      );
  }
}
