import type { AgentName, TaskId } from "../model/index.ts";
import type { PushAttempt, PushSubscription, Store } from "../ports/index.ts";
import type { AdminCaller, AdminRoute } from "./access.ts";
import type { Delivery, DeliveryAttempt, DeliveryPage } from "./api.ts";
import { findTask } from "./find-tasks.ts";
import {
  invalid,
  invalidToken,
  readBody,
  readChoice,
  readOwners,
  readPageSize,
  readString,
  readText,
  reply,
} from "./parameters.ts";

type AgentPush = PushSubscription & { readonly agent: AgentName };

const STATES = ["waiting", "failing", "done", "dead"] as const;
const HOST_CHARS_MAX = 300;

export function createDeliveryRoutes({ store }: { readonly store: Store }): readonly AdminRoute[] {
  async function list(query: URLSearchParams, caller: AdminCaller): Promise<DeliveryPage> {
    const state = readChoice(query, "state", STATES);
    const host = readText(query, "host", HOST_CHARS_MAX);
    const after = readToken(query);
    const page = await store.overview.scanPushes({
      owners: readOwners(query, caller),
      max: readPageSize(query),
      ...(state !== undefined && { state: state === "waiting" ? "live" : state }),
      ...(host !== undefined && { host }),
      ...(after !== undefined && { after }),
    });
    const deliveries = page.pushes.map(toDelivery).filter(one => state === undefined || one.state === state);
    return { deliveries, nextPageToken: page.next === undefined ? "" : String(page.next) };
  }

  return [
    {
      verb: "GET",
      path: "/deliveries",
      needs: "read",
      summary: "Webhooks of tasks and their deliveries, the newest first",
      async serve({ query }, caller) {
        const task = query.get("task");
        if (task === null) return reply(await list(query, caller));
        const owned = await findTask(store, task as TaskId, caller);
        return reply({ deliveries: await deliveriesOf(store, owned.task), nextPageToken: "" });
      },
    },
    {
      verb: "POST",
      path: "/deliveries/redeliver",
      needs: "act",
      summary: "Deliver again: from the cursor, or everything from the start",
      async serve(call, caller) {
        const body = await readBody(call);
        const { task } = await findTask(store, readString(body, "taskId") as TaskId, caller);
        const { configId, from = "cursor" } = body;
        if (configId !== undefined && typeof configId !== "string")
          throw invalid("configId", "must be the id of a push config");
        if (from !== "cursor" && from !== "start") throw invalid("from", 'must be "cursor" or "start"');
        const place = from === "cursor" ? "place" : "start";
        return reply({ redelivered: await store.deliveries.redeliver(task.id, configId, place) });
      },
    },
    {
      verb: "POST",
      path: "/deliveries/give-up",
      needs: "act",
      summary: "End the retries of a webhook",
      async serve(call, caller) {
        const body = await readBody(call);
        const { task } = await findTask(store, readString(body, "taskId") as TaskId, caller);
        const isGivenUp = await store.deliveries.giveUp(task.id, readString(body, "configId"));
        return reply({ givenUp: isGivenUp ? 1 : 0 });
      },
    },
  ];
}

function readToken(query: URLSearchParams): number | undefined {
  const token = query.get("pageToken");
  if (!token) return undefined;
  if (!/^\d{1,15}$/.test(token)) throw invalidToken();
  return Number(token);
}

export async function deliveriesOf(
  store: Store,
  task: { readonly id: TaskId; readonly agent: AgentName },
): Promise<readonly Delivery[]> {
  return (await store.deliveries.list(task.id)).map(push => toDelivery({ ...push, agent: task.agent }));
}

function toDelivery(push: AgentPush): Delivery {
  const { config, scope, failed } = push;
  const { authentication, token, secret } = config;
  return {
    taskId: push.taskId,
    configId: config.id,
    agent: push.agent,
    tenant: scope.tenant,
    principal: scope.principal,
    url: withoutUserInfo(config.url),
    dialect: config.origin,
    events: config.events,
    state: push.state === "live" ? (push.nextAt === undefined ? "waiting" : "failing") : push.state,
    has: [
      ...(authentication?.credentials === undefined ? [] : ["credentials"]),
      ...(token === undefined ? [] : ["token"]),
      ...(secret === undefined ? [] : ["secret"]),
    ],
    deliveredSeq: push.cursor,
    setAt: push.setAt,
    nextAt: push.nextAt ?? null,
    failures: failed?.count ?? 0,
    failingSinceAt: failed?.since ?? null,
    attempts: push.attempts.map(toAttempt),
  };
}

/** A URL may contain a password. */
function withoutUserInfo(text: string): string {
  const url = URL.parse(text);
  if (!url || (url.username === "" && url.password === "")) return text;
  url.username = "";
  url.password = "";
  return url.href;
}

const toAttempt = ({ at, seq, status, ms, error, nextAt }: PushAttempt): DeliveryAttempt => ({
  at,
  seq,
  status: status ?? null,
  latencyMs: ms,
  error: error ?? null,
  nextAt: nextAt ?? null,
});
