/** The API of LangGraph's Agent Server. */
import { askHandler } from "../auth/custom-auth.ts";
import type { Streams } from "../http/sse.ts";
import { createCustomAuthorizer, createLanggraphApi, type LanggraphApi } from "../langgraph-api/index.ts";
import type { Authenticator, Pipeline } from "../ports/index.ts";
import { nextTimeOf } from "../runner/schedules.ts";
import { toUuid } from "./catalog.ts";
import { readVersion } from "./package-files.ts";
import { publicBase, type Services, type WiringParts } from "./services.ts";

export interface LanggraphCalls {
  readonly authenticator: Authenticator;
  readonly pipeline: Pipeline;
  readonly streams: Pick<Streams, "count">;
}

export function openLanggraphApi(
  parts: WiringParts,
  { catalog, store, items, bus, newId, clock, webhooks }: Services,
  { authenticator, pipeline, streams }: LanggraphCalls,
  isOpen: () => boolean,
): LanggraphApi {
  const { settings, functions, log } = parts;
  if (settings.langgraphApi === "off") return { endpoints: [], pushEncoders: [], close: async () => {} };
  const { heartbeatMs, sweepMs } = settings;
  const { now, wallTime } = clock;
  const records = { catalog, store, newId, now, wallTime, timers: clock, idOf: toUuid };
  const calls = { authenticator, pipeline, countStream: streams.count, heartbeatMs, sweepMs, isOpen, log };
  const { langgraphFile: file } = settings;
  const auth = functions?.customAuth;
  return createLanggraphApi({
    ...{ ...records, ...calls, items, bus, nextTimeOf, version: readVersion },
    off: file?.off,
    // A server with `mcp` has tools of its own form there.
    hasMcp: file !== undefined && !settings.mcp && !file.off.includes("mcp"),
    configurableHeaders: file?.configurableHeaders,
    webhooks: {
      rules: file?.webhooks,
      targets: file?.off.includes("webhooks") ? undefined : webhooks,
      ownBase: () => publicBase(parts),
    },
    threadTtl: file?.threadTtl && { strategy: file.threadTtl.strategy, ttl: file.threadTtl.minutes },
    authorizer: auth && createCustomAuthorizer({ ask: (...call) => askHandler(auth, ...call) }),
  });
}
