import { dayOf, Fault, LIMITS, type Quotas, type Scope, startOfDay, tokensIn } from "../model/index.ts";
import type { ExecuteOperation, Operation, Store } from "../ports/index.ts";
import { isSteps } from "../ports/operation.ts";
import { createCallLimit } from "./call-rate.ts";
import { createStreamLimit } from "./open-streams.ts";
import { NAMES, quotaOf, WHOSE } from "./quotas.ts";

export interface LimitParts {
  readonly quotas: Quotas;
  readonly store: Pick<Store, "tasks" | "runs" | "usage" | "nodes">;
  /** A day begins by it. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** Tasks that may wait for a run, all callers together. */
  readonly queueMax: number;
}

/** The same operations for those who have room for them. Runs are limited where they are taken from the queue. */
export function createLimited(parts: LimitParts): (core: ExecuteOperation) => ExecuteOperation {
  const { quotas } = parts;
  const hasQuotas = Boolean(quotas.caller ?? quotas.tenant ?? quotas.tenants);
  const takeCall = createCallLimit(quotas, parts.ticks, parts.store.nodes);
  const streams = createStreamLimit(quotas, parts.store.nodes);

  const withRoom =
    (core: ExecuteOperation): ExecuteOperation =>
    (operation, scope, signal) => {
      if (isSending(operation) && isFull(parts)) return Promise.reject(tooMany(parts));
      return core(operation, scope, signal);
    };
  const withQuotas =
    (core: ExecuteOperation): ExecuteOperation =>
    async (operation, scope, signal) => {
      if (isAboutAgents(operation)) return core(operation, scope, signal);
      takeCall(scope);
      if (isSending(operation)) {
        if (isFull(parts)) throw tooMany(parts);
        await checkSend(parts, operation, scope);
      }
      if (operation.op !== "stream" && operation.op !== "subscribe") return core(operation, scope, signal);
      streams.check(scope);
      const answer = await core(operation, scope, signal);
      return isSteps(answer) ? streams.count(scope, answer) : answer;
    };
  return hasQuotas ? withQuotas : withRoom;
}

const isSending = (operation: Operation): operation is Operation & { readonly op: "send" | "stream" } =>
  operation.op === "send" || operation.op === "stream";

/** What is the same for everybody is cheap, and nobody's in particular. */
const isAboutAgents = ({ op }: Operation): boolean =>
  op === "card" || op === "agents" || op === "extended-card";

const QUEUE_RETRY_MS = 2_000;

const isFull = ({ store, queueMax }: LimitParts): boolean => store.runs.waiting() >= queueMax;

const tooMany = ({ queueMax }: LimitParts): Fault =>
  new Fault("unavailable", `${queueMax} tasks are waiting already; try again soon`, {
    retryAfterMs: QUEUE_RETRY_MS,
  });

async function checkSend(
  parts: LimitParts,
  operation: Operation & { readonly op: "send" | "stream" },
  scope: Scope,
): Promise<void> {
  const isNew = operation.send.taskId === undefined;
  if (isNew && WHOSE.some(whose => quotaOf(parts.quotas, scope, whose).tasks !== undefined))
    await checkTasks(parts, scope);
  if (WHOSE.some(whose => quotaOf(parts.quotas, scope, whose).tokensPerDay !== undefined))
    await checkTokens(parts, scope);
}

async function checkTasks({ quotas, store }: LimitParts, scope: Scope): Promise<void> {
  const counts = await store.tasks.count(scope);
  for (const whose of WHOSE) {
    const { tasks } = quotaOf(quotas, scope, whose);
    if (tasks !== undefined && counts[whose] >= tasks)
      throw new Fault(
        "rate-limited",
        `${tasks} tasks are kept, which is all that ${NAMES[whose]} may have; they go with their agent's retention`,
        { retryAfterMs: LIMITS.sweepMs },
      );
  }
}

async function checkTokens({ quotas, store, wallTime }: LimitParts, scope: Scope): Promise<void> {
  const day = dayOf(wallTime());
  const spent = await store.usage.spent(scope, day);
  for (const whose of WHOSE) {
    const { tokensPerDay } = quotaOf(quotas, scope, whose);
    if (tokensPerDay !== undefined && tokensIn(spent[whose]) >= tokensPerDay)
      throw new Fault(
        "rate-limited",
        `${tokensPerDay} tokens are spent, which is all that ${NAMES[whose]} has for a day (UTC)`,
        { retryAfterMs: startOfDay(day + 1) - wallTime() },
      );
  }
}
