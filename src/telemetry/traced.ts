/** The tracing wrappers of the ports. */
import type { Agent, Fetch, Observer, Store } from "../ports/index.ts";
import { tracedCalls } from "./traced-call.ts";
import { tracedFetch } from "./traced-outbound.ts";
import { tracedAgent } from "./traced-run.ts";
import { tracedStore } from "./traced-store.ts";
import { openTracing, type TracingParts } from "./tracing.ts";

export interface Traced {
  readonly watch: Observer;
  store(store: Store): Store;
  fetch(fetch: Fetch): Fetch;
  agent(agent: Agent): Agent;
  close(): Promise<void>;
}

/** undefined: tracing is off. */
export async function openTraced(parts: TracingParts): Promise<Traced | undefined> {
  const tracing = await openTracing(parts);
  return (
    tracing && {
      watch: tracedCalls(tracing),
      store: store => tracedStore(store, tracing),
      fetch: fetch => tracedFetch(fetch, tracing),
      agent: agent => tracedAgent(agent, tracing),
      close: () => tracing.close(),
    }
  );
}
