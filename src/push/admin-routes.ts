import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, type TaskId } from "../model/index.ts";
import type {
  Endpoint,
  EndpointRequest,
  EndpointResponse,
  PushAttempt,
  PushQueue,
  PushSubscription,
} from "../ports/index.ts";

/** Webhooks of all callers, for operators; without secrets. */
export const createPushRoutes = (deliveries: PushQueue): readonly Endpoint[] => [
  {
    verb: "GET",
    path: "/admin/pushes",
    async serve({ query }) {
      const task = query.get("task");
      if (!task) throw invalid("task", "is required: the id of a task, as in ?task=ID");
      const found = await deliveries.list(task as TaskId);
      return reply({ task, pushes: found.map(toJson) });
    },
  },
  {
    verb: "POST",
    path: "/admin/pushes/redeliver",
    async serve(call) {
      const { task, config, from } = await readRedelivery(call);
      const redelivered = await deliveries.redeliver(task, config, from);
      if (redelivered === 0) throw new Fault("task-not-found", "Push config not found");
      return reply({ task, redelivered });
    },
  },
];

const reply = (value: Json): EndpointResponse => ({ status: 200, headers: {}, text: JSON.stringify(value) });

const invalid = (field: string, problem: string): Fault =>
  new Fault("invalid-params", `${field} ${problem}`, { field });

async function readRedelivery(call: EndpointRequest): Promise<{
  readonly task: TaskId;
  readonly config: string | undefined;
  readonly from: "place" | "start";
}> {
  // CSRF: a foreign page can make a browser send any other content type.
  if (!call.headers["content-type"]?.startsWith("application/json"))
    throw invalid("Content-Type", "must be application/json");
  const { task, config, from = "place" } = parse(await call.body());
  if (typeof task !== "string" || task === "")
    throw invalid("task", "is required and must be the id of a task");
  if (config !== undefined && typeof config !== "string")
    throw invalid("config", "must be the id of a push config");
  if (from !== "place" && from !== "start") throw invalid("from", 'must be "place" or "start"');
  return { task: task as TaskId, config, from };
}

function parse(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch {
    // Thrown below.
  }
  throw new Fault("parse", "The body must be a JSON object");
}

function toJson(subscription: PushSubscription): JsonObject {
  const { config, scope, state, cursor, failed, nextAt, setAt, attempts } = subscription;
  const { id, url, origin, events, authentication, token, secret } = config;
  return {
    id,
    url,
    dialect: origin,
    events,
    tenant: scope.tenant,
    principal: scope.principal,
    has: [
      ...(authentication?.credentials === undefined ? [] : ["credentials"]),
      ...(token === undefined ? [] : ["token"]),
      ...(secret === undefined ? [] : ["secret"]),
    ],
    state,
    place: cursor,
    setAt: toIso(setAt),
    ...(failed && { failed: { count: failed.count, since: toIso(failed.since) } }),
    ...(nextAt !== undefined && { nextAt: toIso(nextAt) }),
    attempts: attempts.map(toAttemptJson),
  };
}

const toAttemptJson = ({ at, seq, status, ms, error, nextAt }: PushAttempt): JsonObject => ({
  at: toIso(at),
  event: seq,
  ms,
  ...(status !== undefined && { status }),
  ...(error !== undefined && { error }),
  ...(nextAt !== undefined && { nextAt: toIso(nextAt) }),
});

const toIso = (ms: number): string => new Date(ms).toISOString();
