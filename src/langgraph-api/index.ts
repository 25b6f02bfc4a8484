/** The API of the LangGraph Agent Server: assistants, threads, runs. Any agent can be called, graph or not. */
import type { JsonObject } from "../lib/json.ts";
import type { Timers } from "../lib/timers.ts";
import type {
  Authenticator,
  Bus,
  Catalog,
  Endpoint,
  Log,
  OpenItems,
  Pipeline,
  PushEncoder,
  Store,
} from "../ports/index.ts";
import { type AssistantRecords, createAssistantRecords } from "./assistant-records.ts";
import { createAssistantRoutes } from "./assistants.ts";
import { ALLOW_OWN, type ResourceAuthorizer } from "./authorize.ts";
import { type CronRouteParts, createCronRoutes } from "./crons.ts";
import { createMcpRoutes } from "./mcp.ts";
import { createProtocolRoutes } from "./protocol-commands.ts";
import { createProtocolStreams } from "./protocol-stream.ts";
import { type ApiCall, type ApiRoute, toEndpoint } from "./route.ts";
import { stopRuns } from "./run-control.ts";
import { type ConfigurableHeaders, createRunCreation } from "./run-create.ts";
import { createRunRecords, type RunRecords } from "./run-records.ts";
import { createRunStreams } from "./run-stream.ts";
import { createRunRoutes } from "./runs.ts";
import { createStoreRoutes } from "./store-items.ts";
import { createSystemRoutes } from "./system.ts";
import { createThreadExpiry } from "./thread-expiry.ts";
import {
  createThreadRecords,
  type FoundThread,
  type ThreadRecords,
  type ThreadTtl,
} from "./thread-records.ts";
import { createThreadRuns } from "./thread-runs.ts";
import { createThreadState, type ThreadStates } from "./thread-state.ts";
import { createStateRoutes } from "./thread-states.ts";
import { createThreadStreamRoutes } from "./thread-stream.ts";
import { createThreadRemoval, createThreadRoutes } from "./threads.ts";
import { createWebhookEncoder, readWebhook, type WebhookReaderParts } from "./webhooks.ts";

export { createAssistantRecords } from "./assistant-records.ts";
export { createCronRuns } from "./cron-runs.ts";
export { createCustomAuthorizer } from "./custom-authorizer.ts";
export { API_VERSION, INFO } from "./system.ts";
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
  readonly webhooks: WebhookReaderParts;
  /** For threads that are created without one. */
  readonly threadTtl?: ThreadTtl | undefined;
  readonly log: Log;
  readonly heartbeatMs: number;
  readonly sweepMs: number;
  readonly timers: Timers;
  /** false: the server is stopping. */
  readonly isOpen: () => boolean;
  /** Counts an open stream until the promise is settled. */
  readonly countStream: (writing: Promise<void>) => Promise<void>;
}

export interface LanggraphApi {
  readonly endpoints: readonly Endpoint[];
  /** Of the webhooks of runs. */
  readonly pushEncoders: readonly PushEncoder[];
  close(): Promise<void>;
}

export function createLanggraphApi(parts: LanggraphApiParts): LanggraphApi {
  const { authorizer = ALLOW_OWN } = parts;
  const assistants = createAssistantRecords({ ...parts, startedAt: parts.wallTime() });
  const threads = createThreadRecords(parts);
  const states = createThreadState({ ...parts, threads });
  const records = {
    ...{ ...parts, assistants, threads, states },
    readWebhook: (body: JsonObject) => readWebhook(parts.webhooks, body),
  };
  const runs = createRunRecords(records);
  const expiry = createThreadExpiry(records);
  const routes = [...listRecordRoutes(records), ...listRunRoutes({ ...records, runs, authorizer })];
  const served = routes.filter(route => !isOff(route, parts.off ?? []));
  return {
    endpoints: served.map(route => toEndpoint({ ...parts, authorizer }, route)),
    pushEncoders: [createWebhookEncoder({ ...records, runs, rules: parts.webhooks.rules })],
    close: expiry.close,
  };
}

interface Records extends LanggraphApiParts {
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  readonly readWebhook: (body: JsonObject) => string | undefined;
}

function listRecordRoutes(records: Records): readonly ApiRoute[] {
  const parts = {
    ...records,
    stopRuns: (call: ApiCall, thread: FoundThread) => stopRuns(records.threads, call, thread),
  };
  return [
    ...createSystemRoutes(records.store),
    ...createAssistantRoutes({ ...records, removeThreads: createThreadRemoval(parts) }),
    ...createThreadRoutes(parts),
    ...createStoreRoutes(records),
    ...createCronRoutes(records),
  ];
}

function listRunRoutes(
  records: Records & { readonly runs: RunRecords; readonly authorizer: ResourceAuthorizer },
): readonly ApiRoute[] {
  const { runs } = records;
  const creation = createRunCreation({ ...records, runs });
  const streams = createRunStreams(records);
  const threadRuns = createThreadRuns({ ...records, runs });
  const protocol = createProtocolStreams({ ...records, runs, streams, threadRuns });
  return [
    ...createRunRoutes({ ...records, runs, creation, streams, onCreated: threadRuns.notify }),
    ...createProtocolRoutes({ ...records, runs, creation, streams, protocol, threadRuns }),
    ...createThreadStreamRoutes({ ...records, streams, threadRuns }),
    ...createStateRoutes({ ...records, onUpdated: threadRuns.notify }),
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
