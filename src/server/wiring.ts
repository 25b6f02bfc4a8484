/** Everything but the doors: the house upon its foundation. */
import { onlyAdmin } from "../auth/admin-only.ts";
import { createPipeline } from "../binding/pipeline.ts";
import type { KernelParts } from "../http/router.ts";
import { createRoutes } from "../http/routes.ts";
import { createStreams } from "../http/sse.ts";
import { createKeySet } from "../keys/index.ts";
import { type AgentName, LIMITS } from "../model/index.ts";
import { createCore } from "../operation/index.ts";
import type { CoreParts } from "../operation/lookup.ts";
import type { Agent, Dialect, ExecuteOperation, Log } from "../ports/index.ts";
import { createDialects } from "../protocol/index.ts";
import { createOwnDocuments } from "../protocol/openapi/index.ts";
import type { GrpcAt } from "../protocol/shared/card.ts";
import { createPushRoutes } from "../push/admin-routes.ts";
import { bodyBytesMaxOf, createLimited, createUnread } from "../quotas/index.ts";
import type { Runner } from "../runner/claim.ts";
import { createSigning, KEYS_PATH } from "../signature/sign.ts";
import { arrange } from "./admin-routes.ts";
import { createWorld, toDigest, type World } from "./clock.ts";
import { openPeers } from "./open-mcp.ts";
import { readDocsPage, readVersion } from "./package-files.ts";
import { type Foundation, layFoundation, type ServerParts } from "./services.ts";
import { beginWork } from "./workers.ts";

export type { ServerParts, ServerSettings } from "./services.ts";

/** Where callers come in. */
export interface Door {
  refuseNew(): void;
  close(): Promise<void>;
}

/** Nothing runs before it is told to begin. */
export async function compose(parts: ServerParts, grpcAt: GrpcAt | undefined, world = createWorld()) {
  const { settings, log } = parts;
  const { wallTime, ticks } = world.clock;
  const foundation = await layFoundation(parts, world);
  const { store, catalog, telemetry, outbound, admission, authorization, keys } = foundation;
  const { guard } = admission;
  const unfinished = await store.runs.unfinished();
  const streams = createStreams({ ...settings, loop: foundation.loop, log });
  const unread = createUnread({ ...LIMITS, ...settings });
  let open = true;
  let work: ReturnType<typeof beginWork> | undefined;
  const fullMs = (): number => work?.runner.fullMs ?? 0;
  const coreParts = { ...toCoreParts(parts, foundation, () => open, streams.hasRoom), fullMs };
  const core = world.around.core(
    createLimited({ ...settings, store, wallTime, ticks })(createCore(coreParts)),
  );
  const isOwnBase = parts.isOwnBase ?? ((base: string) => base === settings.publicUrl);
  const dialects = writeDialects({ settings, isOwnBase }, foundation, grpcAt, world);
  const peerParts = {
    settings,
    catalog,
    outbound,
    guard,
    core,
    version: readVersion,
    watch: telemetry.watch,
    log,
  };
  const peers = await openPeers(peerParts).catch(async error => {
    await foundation.close();
    throw error;
  });
  const doors = arrange({
    ...parts,
    ...foundation,
    guard,
    levels: parts.levels,
    dialects,
    version: readVersion,
    ticks,
    isOpen: () => open,
    runner: () => work?.runner,
    streamsOpen: streams.open,
    unreadBytes: () => unread.bytes,
    others: [
      ...peers.own,
      ...createOwnDocuments({ dialects, readVersion, readPage: readDocsPage }),
      createKeySet(keys.signer, KEYS_PATH),
      ...authorization.routes({ coreParts, core, guard, isOwnBase }),
      ...admission.own,
      ...createPushRoutes(store.deliveries).map(one => onlyAdmin(one, guard)),
    ],
  });
  const kernel = toKernelParts(parts, foundation, {
    core,
    dialects,
    streams,
    unread,
    locate: createRoutes(dialects, doors.open),
  });
  return {
    kernel,
    wallTime,
    adminRoutes: doors.admin,
    catalog,
    dialects,
    unfinished,
    watched: telemetry.agent,
    listensAt: authorization.listensAt,
    /** Reads the cards of agents that stand for others. */
    look: peers.look,
    begin(): Runner {
      work = beginWork({ settings, foundation, world, dialects, tools: peers.tools, log });
      warnOfUnserved(unfinished, catalog.find, log);
      return work.runner;
    },
    async close(doors: readonly Door[]): Promise<void> {
      open = false;
      for (const door of doors) door.refuseNew();
      await work?.stop();
      await Promise.all(doors.map(door => door.close()));
      await peers.close();
      await foundation.close();
    },
  };
}

/** The way from a request to an operation, and back. */
function toKernelParts(
  { settings, log }: ServerParts,
  { admission, catalog, telemetry }: Foundation,
  made: Pick<KernelParts, "streams" | "unread" | "locate"> & {
    core: ExecuteOperation;
    dialects: readonly Dialect[];
  },
): KernelParts {
  const { core, dialects, streams, unread, locate } = made;
  const pipeline = createPipeline({
    dialects,
    guard: admission.guard,
    core,
    catalog,
    bodyBytesMax: scope => bodyBytesMaxOf(settings.quotas, scope),
    unread,
    watch: telemetry.watch,
    log,
  });
  return {
    ...settings,
    pipeline,
    locate,
    log,
    limits: { ...LIMITS, ...settings },
    streams,
    unread,
    modifiedAt: () => catalog.modifiedAt,
  };
}

function toCoreParts(
  { settings }: ServerParts,
  foundation: Foundation,
  isOpen: () => boolean,
  hasStreamRoom: () => boolean,
): Omit<CoreParts, "fullMs"> {
  const { store, bus, loop, catalog, newId, webhooks, keys, admission, authorization } = foundation;
  return {
    ...settings,
    store,
    bus,
    loop,
    catalog,
    credentials: authorization.credentials,
    schemes: admission.guard.schemes,
    targets: webhooks,
    vault: keys.vault,
    newId,
    digest: toDigest,
    isOpen,
    hasStreamRoom,
  };
}

function writeDialects(
  { settings, isOwnBase }: Required<Pick<ServerParts, "settings" | "isOwnBase">>,
  { keys }: Foundation,
  grpcAt: GrpcAt | undefined,
  { around }: World,
) {
  const signing = createSigning({ signer: keys.signer, entriesMax: LIMITS.signedCardsMax, isOwnBase });
  return createDialects({ ...settings, ...(grpcAt && { grpcAt }) })
    .map(dialect => (settings.signCards ? signing(dialect) : dialect))
    .map(around.dialect);
}

function warnOfUnserved(
  unfinished: ReadonlyMap<AgentName, number>,
  find: (name: AgentName) => Agent | undefined,
  log: Log,
): void {
  for (const [agent, count] of unfinished)
    if (!find(agent)) log.warn({ agent, count }, "unfinished tasks wait for an agent that is not served");
}
