import { createHandler } from "dragoman";
import { hello } from "./_agent.ts";

const BASE = "http://agents.internal";

/** No port at all: the host has a `Request` and wants a `Response`. */
export async function createFetch(): Promise<{
  readonly base: string;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}> {
  const dragoman = await createHandler({ agents: [hello], data: ":memory:" });
  const own = new Map([[`${BASE}/`, "an application of fetch"]]);
  return {
    base: BASE,
    async fetch(request) {
      const page = request.method === "GET" ? own.get(request.url) : undefined;
      return page === undefined ? dragoman.fetch(request) : new Response(page);
    },
    close: dragoman.close,
  };
}

if (import.meta.main) {
  const { base, fetch, close } = await createFetch();
  const response = await fetch(new Request(`${base}/agents/hello/.well-known/agent-card.json`));
  process.stdout.write(`${await response.text()}\n`);
  await close();
}
