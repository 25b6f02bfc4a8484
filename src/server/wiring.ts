/** Connects the parts of a server: operations, dialects, pipeline, bindings, endpoints and routes. */
import { createLogLines, type LogLines } from "../admin/index.ts";
import { createCustomGuard } from "../auth/custom-guard.ts";
import { adminOnly } from "../auth/index.ts";
import { toAgentScope, toScope } from "../auth/scope.ts";
import { createBindings } from "../binding/index.ts";
import { createPipeline } from "../binding/pipeline.ts";

import { createCustomApp } from "../http/custom-app.ts";
import { createOwnBaseUrlCheck } from "../http/host-check.ts";
import { createRoutes } from "../http/routes.ts";
import { createStreams, type Streams } from "../http/sse.ts";
import { createJwksEndpoint } from "../keys/index.ts";
import { createAssistantRecords, createCronRuns, createThreadRecords } from "../langgraph-api/index.ts";
import { createMcpClients } from "../mcp/clients.ts";
import { createMcpEndpoint } from "../mcp/endpoint.ts";
import { LIMITS } from "../model/index.ts";
import { createOAuthPages } from "../oauth/authorization-routes.ts";
import { createCredentialRoutes } from "../oauth/credential-routes.ts";
import { isAuthorizationPending, resumeAuthorized } from "../operation/credentials.ts";
import { createOperations } from "../operation/index.ts";
import { createLocalAgents } from "../operation/local-agents.ts";
import type { OperationParts } from "../operation/lookup.ts";
import type { Caller, Endpoint, Pipeline } from "../ports/index.ts";
import { API_DESCRIPTIONS } from "../protocol/index.ts";
import { createUnknownPathBody } from "../protocol/openai/unknown-path.ts";
import { createOpenApiEndpoints } from "../protocol/openapi/index.ts";
import { createPushRoutes } from "../push/admin-routes.ts";
import { bodyBytesMaxOf, createLimitedOperations, createUnreadBytes } from "../quotas/index.ts";
import type { Runner } from "../runner/claim.ts";
import { createRemoteCards } from "../runner/remote-cards.ts";
import { createDidEndpoint } from "../signature/did-web.ts";
import { JWKS_PATH } from "../signature/sign.ts";
import { redact, scrub } from "../telemetry/redact.ts";
import { createServerEndpoints } from "./admin-routes.ts";
import { isForAllCallers, toUuid } from "./catalog.ts";
import { createEnvironment, type ServerEnvironment, toDigest } from "./clock.ts";
import { consoleModeOf } from "./open-auth.ts";
import { type OpenConsole, openConsole } from "./open-console.ts";
import { openLanggraphApi } from "./open-langgraph-api.ts";
import { readDocsPage, readVersion } from "./package-files.ts";
import { toServedDialects } from "./served-dialects.ts";
import { createServices, publicBase, type Services, type WiringParts } from "./services.ts";
import { startWorkers, type Workers, warnOfUnserved } from "./workers.ts";

export type { ServerAddresses, ServerParts, ServerSettings } from "./services.ts";

/** A socket that accepts requests. */
export interface Listener {
  refuseNew(): void;
  close(): Promise<void>;
}

/** State that parts of the server read, and that changes while it runs. */
interface ServerState {
  /** false: the server is stopping. */
  isOpen: boolean;
  /** undefined: `start` has not been called. */
  workers: Workers | undefined;
  /** undefined: it is off. */
  console?: OpenConsole;
}

export type WiredServer = Awaited<ReturnType<typeof connect>>;

/** Opens the services and connects the parts. The workers begin with `start`. */
export async function wireServer(
  parts: WiringParts,
  environment: ServerEnvironment = createEnvironment(),
): Promise<WiredServer> {
  const consoleMode = consoleModeOf(parts.settings, parts.mount !== undefined);
  const lines =
    consoleMode === "off" ? undefined : createLogLines({ now: environment.clock.wallTime, redact, scrub });
  const logged = lines ? { ...parts, log: lines.wrap(parts.log) } : parts;
  const services = await createServices(logged, environment);
  try {
    return await connect(logged, services, environment, lines);
  } catch (error) {
    await services.close();
    throw error;
  }
}

async function connect(
  parts: WiringParts,
  services: Services,
  environment: ServerEnvironment,
  lines: LogLines | undefined,
) {
  const { settings, log } = parts;
  const { store, catalog, telemetry, clock } = services;
  const state: ServerState = { isOpen: true, workers: undefined };
  const unfinished = await store.runs.unfinished();
  const calls = wireCalls(parts, services, state, environment);
  const { dialects, pipeline, streams, unread } = calls;
  const remoteCards = createRemoteCards({
    outbound: services.outbound,
    log,
    agents: catalog.all,
    show: agents => catalog.replace(agents, catalog.defaultAgent),
  });
  const mcp = await openMcp(parts, services, pipeline);
  const langgraph = openLanggraphApi(parts, services, calls, () => state.isOpen);
  const endpoints = createServerEndpoints({
    ...parts,
    ...services,
    ...calls,
    levels: parts.levels,
    version: readVersion,
    ticks: clock.ticks,
    isOpen: () => state.isOpen,
    runner: () => state.workers?.runner,
    streamsOpen: streams.open,
    unreadBytes: () => unread.bytes,
    others: [...mcp.endpoints, ...langgraph.endpoints, ...listEndpoints(parts, services, calls)],
    openConsole(checkHealth) {
      const { consoleMode } = services;
      if (consoleMode === "off" || !lines || !telemetry.totals) return { public: [], admin: [] };
      return (state.console = openConsole({
        ...calls,
        parts,
        services,
        console: consoleMode,
        totals: telemetry.totals,
        lines,
        runsRunning: () => state.workers?.runner.running ?? 0,
        unreadBytes: () => unread.bytes,
        checkHealth,
      }));
    },
  });
  const limits = { ...LIMITS, ...settings };
  const corsRules = settings.langgraphFile?.cors;
  const bindings = createBindings({
    ...settings,
    corsRules,
    pipeline,
    streams,
    unread,
    limits,
    modifiedAt: () => catalog.modifiedAt,
    browsersTo: state.console && "console/",
  });
  const served = settings.a2a ? dialects : [];
  return {
    router: {
      ...settings,
      ...toRouterRules(parts, services),
      bindings,
      match: createRoutes(served, endpoints.public),
      unknownPathBody: createUnknownPathBody(served),
      log,
    },
    adminEndpoints: endpoints.admin,
    hasConsole: state.console !== undefined,
    pipeline,
    streams,
    unread,
    limits,
    dialects,
    catalog,
    clock,
    unfinished,
    refreshCards: remoteCards.refresh,
    toObserved: telemetry.agent,
    start(): Runner {
      state.workers = startWorkers({
        settings,
        services,
        pushEncoders: [...dialects, ...langgraph.pushEncoders],
        tools: mcp.tools,
        agents: createLocalAgents({ ...services, execute: calls.limited, toAgentScope }),
        onFailure: parts.development?.onFailure,
        beginScheduled: createCronRuns({
          execute: calls.execute,
          idOf: toUuid,
          threads: createThreadRecords({ ...services, ...services.clock, idOf: toUuid }),
          assistants: createAssistantRecords({ ...services, idOf: toUuid, startedAt: clock.wallTime() }),
        }),
        log,
      });
      warnOfUnserved(unfinished, catalog.names(), log);
      return state.workers.runner;
    },
    async close(listeners: readonly Listener[]): Promise<void> {
      state.isOpen = false;
      for (const listener of listeners) listener.refuseNew();
      state.console?.close();
      await state.workers?.stop();
      await Promise.all(listeners.map(listener => listener.close()));
      await Promise.all([remoteCards.stop(), mcp.close(), langgraph.close()]);
      await services.close();
    },
  };
}

/** What a langgraph.json says about requests. */
function toRouterRules({ settings, functions }: WiringParts, { auth }: Services) {
  const { langgraphFile: file } = settings;
  const authenticate = async (caller: Caller) =>
    auth.authenticator.requirePrincipal(await auth.authenticator.authenticate(caller));
  return {
    corsRules: file?.cors,
    mountPrefix: file?.mountPrefix,
    customApp:
      functions?.app &&
      createCustomApp({
        fetch: functions.app,
        authenticate: file?.isAppGuarded ? authenticate : undefined,
        bodyBytesMax: LIMITS.bodyBytesMax,
      }),
  };
}

/** The path of a call: pipeline, dialects, operations. */
function wireCalls(
  parts: WiringParts,
  services: Services,
  state: ServerState,
  environment: ServerEnvironment,
) {
  const { settings, log } = parts;
  const { store, catalog, clock, loop } = services;
  const custom = parts.functions?.customAuth;
  const guarded = custom && createCustomGuard(custom, services.auth.authenticator);
  const authenticator = guarded?.authenticator ?? services.auth.authenticator;
  const streams = createStreams({ ...settings, loop, log });
  const unread = createUnreadBytes({ ...LIMITS, ...settings });
  const operationParts = toOperationParts(parts, services, state, streams);
  const limit = createLimitedOperations({ ...settings, store, wallTime: clock.wallTime, ticks: clock.ticks });
  const limited = limit(createOperations(operationParts));
  const execute = environment.wrapExecute(guarded ? guarded.guard(limited) : limited);
  const isOwnBase = createOwnBaseUrlCheck({
    ...settings,
    host: parts.mount ? undefined : settings.host,
    listening: () => parts.addresses.http,
    path: parts.mount?.path,
  });
  const dialects = toServedDialects(parts, services, isOwnBase);
  const pipeline = createPipeline({
    dialects,
    authenticator,
    execute,
    catalog,
    bodyBytesMax: scope => bodyBytesMaxOf(settings.quotas, scope),
    unread,
    observer: services.telemetry.watch,
    log,
  });
  return {
    authenticator,
    streams,
    unread,
    operationParts,
    execute,
    limited,
    // The limits of calls for calls that are no operations.
    limit: limit(async () => ({ kind: "nothing" })),
    isOwnBase,
    dialects,
    pipeline,
  };
}

type Calls = ReturnType<typeof wireCalls>;

function toOperationParts(
  { settings }: WiringParts,
  services: Services,
  state: ServerState,
  streams: Streams,
): OperationParts {
  return {
    ...settings,
    ...services,
    credentials: services.oauth,
    schemes: services.auth.authenticator.schemes,
    targets: services.webhooks,
    encryption: services.keys.encryption,
    digest: toDigest,
    isOpen: () => state.isOpen,
    hasStreamRoom: streams.hasRoom,
    fullMs: () => state.workers?.runner.fullMs ?? 0,
  };
}

/** The agents as MCP tools, and the tools of MCP servers for agents. */
async function openMcp({ settings, log }: WiringParts, services: Services, pipeline: Pipeline) {
  const { catalog, outbound, auth } = services;
  const clients = createMcpClients({
    servers: settings.mcpServers,
    fetch: outbound.trusted,
    version: readVersion,
    log,
  });
  const offered = settings.mcp
    ? await createMcpEndpoint({
        ...settings,
        catalog,
        pipeline,
        authenticator: auth.authenticator,
        version: readVersion,
        log,
      })
    : undefined;
  return {
    tools: clients.open,
    endpoints: offered ? [offered.endpoint] : [],
    async close(): Promise<void> {
      await Promise.all([offered?.close(), clients.close()]);
    },
  };
}

/** The endpoints of the server beside the dialects, health, metrics and MCP. */
function listEndpoints(parts: WiringParts, services: Services, calls: Calls): readonly Endpoint[] {
  const { oauth, auth, catalog, keys, store } = services;
  const { authenticator, execute, operationParts, isOwnBase, dialects } = calls;
  const pages = createOAuthPages({
    oauth,
    fetch: services.outbound.trusted,
    log: parts.log,
    wallTime: services.clock.wallTime,
    randomHex: services.randomHex,
    baseFor: called => (isOwnBase(called) ? called : publicBase(parts)),
    // The server encrypted tenant and principal itself, when the caller was authorized.
    toScope: (tenant, principal) => toScope(tenant, principal),
    isWaiting: (scope, taskId, messageId) => isAuthorizationPending(operationParts, scope, taskId, messageId),
    resume: (scope, taskId, messageId) => resumeAuthorized(operationParts, scope, taskId, messageId),
  });
  return [
    ...createOpenApiEndpoints({
      dialects,
      descriptions: API_DESCRIPTIONS,
      agents: () => catalog.all().filter(isForAllCallers),
      readVersion,
      readPage: services.consoleMode === "off" ? readDocsPage : undefined,
    }),
    createJwksEndpoint(keys.signer, JWKS_PATH),
    createDidEndpoint({ signer: keys.signer, isOwnBase }),
    ...pages,
    ...createCredentialRoutes({ credentials: oauth.credentials, authenticator, execute, catalog }),
    ...auth.endpoints,
    ...createPushRoutes(store.deliveries).map(endpoint => adminOnly(endpoint, authenticator)),
  ];
}
