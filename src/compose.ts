/** Everything but the doors: the house upon its foundation. */
import { onlyAdmin } from "./auth/admin.ts";
import type { CoreParts } from "./core/deps.ts";
import { createCore } from "./core/index.ts";
import type { GrpcAt } from "./dialect/card.ts";
import { createDialects } from "./dialect/index.ts";
import { type Foundation, layFoundation, type ServerParts } from "./foundation.ts";
import { createKeySet } from "./keys/index.ts";
import { bodyBytesMaxOf, createLimited, createUnread } from "./limits/index.ts";
import { type AgentName, LIMITS } from "./model/index.ts";
import { createOwnDocuments } from "./openapi/index.ts";
import { arrange } from "./operate.ts";
import { readDocsPage, readVersion } from "./package.ts";
import { openPeers } from "./peers.ts";
import { createPipeline } from "./pipeline.ts";
import type { Agent, Log } from "./ports.ts";
import { createPushRoutes } from "./push/own.ts";
import type { Runner } from "./runner/claim.ts";
import { createSigning, KEYS_PATH } from "./signature/sign.ts";
import type { KernelParts } from "./transport/kernel.ts";
import { createRoutes } from "./transport/routes.ts";
import { createStreams } from "./transport/sse.ts";
import { beginWork } from "./workers.ts";
import { createWorld, toDigest, type World } from "./world.ts";

export type { ServerParts, ServerSettings } from "./foundation.ts";

/** Where callers come in. */
export interface Door {
  refuseNew(): void;
  close(): Promise<void>;
}

/** Nothing runs before it is told to begin. */
export async function compose(parts: ServerParts, grpcAt: GrpcAt | undefined, world = createWorld()) {
  const { settings, log } = parts;
  const { now } = world.clock;
  const foundation = await layFoundation(parts, world);
  const { store, catalog, telemetry, outbound, admission, authorization, keys } = foundation;
  const { guard } = admission;
  const unfinished = await store.runs.unfinished();
  const streams = createStreams({ ...settings, log });
  const unread = createUnread({ ...LIMITS, ...settings });
  let open = true;
  const coreParts = toCoreParts(parts, foundation, () => open, streams.hasRoom);
  const core = world.around.core(createLimited({ ...settings, store, now })(createCore(coreParts)));
  const dialects = writeDialects(parts, foundation, grpcAt, world);
  const { watch } = telemetry;
  const peerParts = { settings, catalog, outbound, guard, core, version: readVersion, watch, log };
  const peers = await openPeers(peerParts).catch(async error => {
    await foundation.close();
    throw error;
  });
  let work: ReturnType<typeof beginWork> | undefined;
  const doors = arrange({
    ...parts,
    ...foundation,
    guard,
    levels: parts.levels,
    dialects,
    version: readVersion,
    now,
    isOpen: () => open,
    runner: () => work?.runner,
    streamsOpen: streams.open,
    unreadBytes: () => unread.bytes,
    others: [
      ...peers.own,
      ...createOwnDocuments({ dialects, readVersion, readPage: readDocsPage }),
      createKeySet(keys.signer, KEYS_PATH),
      ...authorization.routes({ coreParts, core, guard }),
      ...admission.own,
      ...createPushRoutes(store.deliveries).map(one => onlyAdmin(one, guard)),
    ],
  });
  const kernel: KernelParts = {
    ...settings,
    pipeline: createPipeline({
      ...{ dialects, guard, core, catalog, unread, watch, log },
      bodyBytesMax: scope => bodyBytesMaxOf(settings.quotas, scope),
    }),
    locate: createRoutes(dialects, doors.open),
    log,
    limits: { ...LIMITS, ...settings },
    streams,
    unread,
    modifiedAt: () => catalog.modifiedAt,
  };
  return {
    kernel,
    now,
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

function toCoreParts(
  { settings }: ServerParts,
  foundation: Foundation,
  isOpen: () => boolean,
  hasStreamRoom: () => boolean,
): CoreParts {
  const { store, bus, catalog, newId, webhooks, keys, admission, authorization } = foundation;
  return {
    ...settings,
    store,
    bus,
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
  { settings }: ServerParts,
  { keys }: Foundation,
  grpcAt: GrpcAt | undefined,
  { around }: World,
) {
  const signing = createSigning({ signer: keys.signer, entriesMax: LIMITS.signedCardsMax });
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
