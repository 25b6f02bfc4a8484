import type { Agent } from "undici";
import type { Fetch } from "../ports/index.ts";

type Undici = typeof import("undici");

export interface UndiciFetch {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/**
 * `fetch` through an agent of undici, with the fetch of the same undici: Node's own does not accept agents of another
 * version. Redirects are not followed. Undici is loaded with the first call, because it takes 7 MiB.
 */
export function createUndiciFetch(createAgent: (undici: Undici) => Agent): UndiciFetch {
  let loading: Promise<{ readonly call: Undici["fetch"]; readonly dispatcher: Agent }> | undefined;
  let closed = false;

  async function load() {
    const undici = await import("undici");
    return { call: undici.fetch, dispatcher: createAgent(undici) };
  }

  return {
    async fetch(url, init) {
      if (closed) throw new Error("the server has stopped");
      loading ??= load();
      const { call, dispatcher } = await loading;
      const asked = { redirect: "manual" as const, ...(init as object), dispatcher };
      return (await call(url, asked)) as unknown as Response;
    },
    async close() {
      closed = true;
      await (await loading)?.dispatcher.destroy();
    },
  };
}
