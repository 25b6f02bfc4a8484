/** The API of the LangGraph Agent Server: assistants, threads, runs. Any agent can be called, graph or not. */
import type { Authenticator, Bus, Catalog, Endpoint, OpenItems, Pipeline, Store } from "../ports/index.ts";
import { createAssistantRecords } from "./assistant-records.ts";
import { createAssistantRoutes } from "./assistants.ts";
import { ALLOW_OWN, type ResourceAuthorizer } from "./authorize.ts";
import { type CronRouteParts, createCronRoutes } from "./crons.ts";
import { type ApiRoute, toEndpoint } from "./route.ts";
import { stopRuns } from "./run-control.ts";
import { createStoreRoutes } from "./store-items.ts";
import { createSystemRoutes } from "./system.ts";
import { createThreadRecords } from "./thread-records.ts";
import { createThreadState } from "./thread-state.ts";
import { createStateRoutes } from "./thread-states.ts";
import { createThreadRoutes } from "./threads.ts";

export { createCronRuns } from "./cron-runs.ts";
export { createCustomAuthorizer } from "./custom-authorizer.ts";
export { INFO } from "./system.ts";

export interface LanggraphApiParts {
  readonly pipeline: Pipeline;
  readonly authenticator: Authenticator;
  readonly catalog: Catalog;
  readonly store: Store;
  readonly newId: () => string;
  /** Event time. */
  readonly now: () => number;
  readonly wallTime: () => number;
  /** The UUID of an agent's name. */
  readonly idOf: (name: string) => string;
  /** undefined: callers reach their own records only. */
  readonly authorizer?: ResourceAuthorizer | undefined;
  readonly items: OpenItems;
  readonly bus: Pick<Bus, "notify">;
  readonly nextTimeOf: CronRouteParts["nextTimeOf"];
  /** Parts of the API that are switched off: "store". */
  readonly off?: readonly string[] | undefined;
}

export function createLanggraphApi(parts: LanggraphApiParts): readonly Endpoint[] {
  const { authorizer = ALLOW_OWN } = parts;
  return listRoutes(parts)
    .filter(route => !isOff(route, parts.off ?? []))
    .map(route => toEndpoint({ ...parts, authorizer }, route));
}

/** Every route; other files add theirs here. */
function listRoutes(parts: LanggraphApiParts): readonly ApiRoute[] {
  const assistants = createAssistantRecords({ ...parts, startedAt: parts.wallTime() });
  const threads = createThreadRecords(parts);
  const states = createThreadState({ ...parts, threads });
  const records = { ...parts, assistants, threads, states };
  return [
    ...createSystemRoutes(parts.store),
    ...createAssistantRoutes(records),
    ...createThreadRoutes({ ...records, stopRuns: (call, thread) => stopRuns(threads, call, thread) }),
    ...createStateRoutes(records),
    ...createStoreRoutes(parts),
    ...createCronRoutes(records),
  ];
}

/** `threads` switches off all below `/threads` except runs; `runs` those, runs without a thread, and crons. */
function isOff({ path }: ApiRoute, off: readonly string[]): boolean {
  const part = /^\/runs\b|^\/threads\/\{thread_id\}\/(?:runs|stream|commands)\b/.test(path)
    ? "runs"
    : path.split("/")[1];
  return off.includes(part === "ok" ? "meta" : (part as string));
}
