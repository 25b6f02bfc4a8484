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

/** What those who run the server see of webhooks: they see all callers' tasks, and no secrets. */
export const createPushRoutes = (deliveries: PushQueue): readonly Endpoint[] => [
  {
    verb: "GET",
    path: "/admin/pushes",
    async serve({ query }) {
      const task = query.get("task");
      if (!task) throw bad("task", "is required: the id of a task, as in ?task=ID");
      const found = await deliveries.look(task as TaskId);
      return reply({ task, pushes: found.map(write) });
    },
  },
  {
    verb: "POST",
    path: "/admin/pushes/redeliver",
    async serve(call) {
      const { task, config, from } = await readWish(call);
      const redelivered = await deliveries.redeliver(task, config, from);
      if (redelivered === 0) throw new Fault("task-not-found", "There is no such push config");
      return reply({ task, redelivered });
    },
  },
];

const reply = (value: Json): EndpointResponse => ({ status: 200, headers: {}, text: JSON.stringify(value) });

const bad = (field: string, problem: string): Fault =>
  new Fault("invalid-params", `${field} ${problem}`, { field });

async function readWish(call: EndpointRequest): Promise<{
  readonly task: TaskId;
  readonly config: string | undefined;
  readonly from: "place" | "start";
}> {
  // A page of somebody else can make a browser send anything but this.
  if (!call.headers["content-type"]?.startsWith("application/json"))
    throw bad("Content-Type", "must be application/json");
  const { task, config, from = "place" } = parse(await call.body());
  if (typeof task !== "string" || task === "") throw bad("task", "is required and must be the id of a task");
  if (config !== undefined && typeof config !== "string")
    throw bad("config", "must be the id of a push config");
  if (from !== "place" && from !== "start") throw bad("from", 'must be "place" or "start"');
  return { task: task as TaskId, config, from };
}

function parse(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new Fault("parse", "The body must be a JSON object");
}

function write(delivery: PushSubscription): JsonObject {
  const { config, scope, state, cursor: place, failed, nextAt, setAt, attempts } = delivery;
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
    place,
    setAt: time(setAt),
    ...(failed && { failed: { count: failed.count, since: time(failed.since) } }),
    ...(nextAt !== undefined && { nextAt: time(nextAt) }),
    attempts: attempts.map(writeAttempt),
  };
}

const writeAttempt = ({ at, seq, status, ms, error, nextAt }: PushAttempt): JsonObject => ({
  at: time(at),
  event: seq,
  ms,
  ...(status !== undefined && { status }),
  ...(error !== undefined && { error }),
  ...(nextAt !== undefined && { nextAt: time(nextAt) }),
});

const time = (ms: number): string => new Date(ms).toISOString();
