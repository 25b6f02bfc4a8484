import type { Agent } from "undici";
import type { Fetch } from "../ports/index.ts";

type Undici = typeof import("undici");

export interface Way {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/**
 * Calls through an agent of undici, with its own fetch: the one of an older Node does not take agents of this version.
 * Redirects are not followed. It is loaded with the first call: it has 7 MiB of objects, and many servers call nobody.
 */
export function through(createAgent: (undici: Undici) => Agent): Way {
  let loading: Promise<{ readonly call: Undici["fetch"]; readonly dispatcher: Agent }> | undefined;
  let closed = false;

  async function load() {
    const undici = await import("undici");
    return { call: undici.fetch, dispatcher: createAgent(undici) };
  }

  return {
    async fetch(url, init) {
      if (closed) throw new Error("nothing is called any more: the server has stopped");
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
