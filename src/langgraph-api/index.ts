/** The API of the LangGraph Agent Server: assistants, threads, runs. Any agent can be called, graph or not. */
import type {
  Authenticator,
  Bus,
  Catalog,
  Endpoint,
  Log,
  OpenItems,
  Pipeline,
  Store,
} from "../ports/index.ts";
import { type AssistantRecords, createAssistantRecords } from "./assistant-records.ts";
import { createAssistantRoutes } from "./assistants.ts";
import { ALLOW_OWN, type ResourceAuthorizer } from "./authorize.ts";
import { type CronRouteParts, createCronRoutes } from "./crons.ts";
import { createMcpRoutes } from "./mcp.ts";
import { createProtocolRoutes } from "./protocol-commands.ts";
import { createProtocolStreams } from "./protocol-stream.ts";
import { type ApiRoute, toEndpoint } from "./route.ts";
import { stopRuns } from "./run-control.ts";
import { type ConfigurableHeaders, createRunCreation } from "./run-create.ts";
import { createRunRecords } from "./run-records.ts";
import { createRunStreams } from "./run-stream.ts";
import { createRunRoutes } from "./runs.ts";
import { createStoreRoutes } from "./store-items.ts";
import { createSystemRoutes } from "./system.ts";
import { createThreadExpiry } from "./thread-expiry.ts";
import { createThreadRecords, type ThreadRecords, type ThreadTtl } from "./thread-records.ts";
import { createThreadState, type ThreadStates } from "./thread-state.ts";
import { createStateRoutes } from "./thread-states.ts";
import { createThreadRoutes } from "./threads.ts";

export { createCronRuns } from "./cron-runs.ts";
export { createCustomAuthorizer } from "./custom-authorizer.ts";
export { INFO } from "./system.ts";
export { createThreadRecords } from "./thread-records.ts";

export interface LanggraphApiParts {
  readonly pipeline: Pipeline;
  readonly authenticator: Authenticator;
  readonly catalog: Catalog;
  readonly store: Store;
  readonly bus: Bus;
  readonly newId: () => string;
  /** Event time. */
  readonly now: () => number;
  readonly wallTime: () => number;
  /** The UUID of an agent's name. */
  readonly idOf: (name: string) => string;
  /** undefined: callers reach their own records only. */
  readonly authorizer?: ResourceAuthorizer | undefined;
  readonly items: OpenItems;
  readonly nextTimeOf: CronRouteParts["nextTimeOf"];
  /** Parts of the API that are switched off: "store". */
  readonly off?: readonly string[] | undefined;
  /** Assistants are tools of MCP at `/mcp`. */
  readonly hasMcp: boolean;
  readonly version: () => string;
  /** Request headers that runs get in `config.configurable`; undefined: the default. */
  readonly configurableHeaders?: ConfigurableHeaders | undefined;
  /** For threads that are created without one. */
  readonly threadTtl?: ThreadTtl | undefined;
  readonly log: Log;
  readonly heartbeatMs: number;
  readonly sweepMs: number;
  /** false: the server is stopping. */
  readonly isOpen: () => boolean;
  /** Counts an open stream until the promise is settled. */
  readonly countStream: (writing: Promise<void>) => Promise<void>;
}

export interface LanggraphApi {
  readonly endpoints: readonly Endpoint[];
  close(): Promise<void>;
}

export function createLanggraphApi(parts: LanggraphApiParts): LanggraphApi {
  const { authorizer = ALLOW_OWN } = parts;
  const assistants = createAssistantRecords({ ...parts, startedAt: parts.wallTime() });
  const threads = createThreadRecords(parts);
  const states = createThreadState({ ...parts, threads });
  const records = { ...parts, assistants, threads, states };
  const expiry = createThreadExpiry(records);
  const routes = [...listRecordRoutes(records), ...listRunRoutes({ ...records, authorizer })];
  const served = routes.filter(route => !isOff(route, parts.off ?? []));
  return {
    endpoints: served.map(route => toEndpoint({ ...parts, authorizer }, route)),
    close: expiry.close,
  };
}

interface Records extends LanggraphApiParts {
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
}

function listRecordRoutes(records: Records): readonly ApiRoute[] {
  const { threads } = records;
  return [
    ...createSystemRoutes(records.store),
    ...createAssistantRoutes(records),
    ...createThreadRoutes({ ...records, stopRuns: (call, thread) => stopRuns(threads, call, thread) }),
    ...createStateRoutes(records),
    ...createStoreRoutes(records),
    ...createCronRoutes(records),
  ];
}

function listRunRoutes(records: Records & { readonly authorizer: ResourceAuthorizer }): readonly ApiRoute[] {
  const runs = createRunRecords(records);
  const creation = createRunCreation({ ...records, runs });
  const streams = createRunStreams(records);
  const protocol = createProtocolStreams({ ...records, runs, streams });
  return [
    ...createRunRoutes({ ...records, runs, creation, streams, onCreated: protocol.notify }),
    ...createProtocolRoutes({ ...records, runs, creation, streams, protocol }),
    ...(records.hasMcp ? createMcpRoutes({ ...records, creation, streams }) : []),
  ];
}

/** `threads` switches off all below `/threads` except runs; `runs` those, runs without a thread, and crons. */
function isOff({ path }: ApiRoute, off: readonly string[]): boolean {
  const part = /^\/runs\b|^\/threads\/\{thread_id\}\/(?:runs|stream|commands)\b/.test(path)
    ? "runs"
    : path.split("/")[1];
  return off.includes(part === "ok" ? "meta" : (part as string));
}
