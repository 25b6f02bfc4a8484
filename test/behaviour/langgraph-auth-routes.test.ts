import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLanggraphApi, type LanggraphApiParts } from "../../src/langgraph-api/index.ts";
import type { CustomAuth } from "../../src/ports/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { toCustomAuth } from "../../src/server/load-functions.ts";
import { lgAgents } from "../support/lg-agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Custom authentication and authorization on every single route of the API: none is left out, also not a new one. */

/** Only the list of routes is read: none of them is called here. */
const { endpoints } = createLanggraphApi({
  store: {},
  timers: { after: () => () => {} },
  wallTime: () => 0,
  webhooks: { rules: undefined, targets: undefined, ownBase: () => undefined },
  hasMcp: true,
} as unknown as LanggraphApiParts);
const ROUTES = endpoints
  .map(({ verb, path }) => `${verb} ${path}`)
  .filter(route => route !== "GET /ok" && route !== "DELETE /mcp");

let server: TestServer;
let verdict: boolean | object = true;
const headers = { authorization: "Bearer alice" };
const records: Record<string, string> = {};

beforeAll(async () => {
  const auth = new Auth()
    .authenticate(async request => {
      if (request.headers.get("authorization") !== headers.authorization)
        throw new HTTPException(401, { message: "Unknown user" });
      return { identity: "alice", permissions: [] };
    })
    .on("*", () => verdict as boolean);
  const file = { off: [], names: {}, auth: undefined } as unknown;
  server = await serve(
    lgAgents(),
    { auth: ["custom"], authFile: "auth.ts", langgraphFile: file as ServerSettings["langgraphFile"] },
    { customAuth: toCustomAuth(auth) as CustomAuth },
  );
  const make = async (path: string, body: object): Promise<Record<string, string>> =>
    (await (
      await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })
    ).json()) as Record<string, string>;
  const assistant = await make("/assistants", { graph_id: "steps" });
  const thread = await make("/threads", {});
  const path = `/threads/${thread.thread_id}`;
  const run = await make(`${path}/runs`, { assistant_id: "steps", input: { trail: [] } });
  await (await fetch(`${server.url}${path}/runs/${run.run_id}/join`, { headers })).text();
  const state = await (await fetch(`${server.url}${path}/state`, { headers })).json();
  const cron = await make("/runs/crons", { assistant_id: "steps", schedule: "@daily" });
  Object.assign(records, {
    assistant_id: assistant.assistant_id,
    thread_id: thread.thread_id,
    run_id: run.run_id,
    cron_id: cron.cron_id,
    checkpoint_id: (state as { checkpoint: { checkpoint_id: string } }).checkpoint.checkpoint_id,
    namespace: "x",
  });
});
afterAll(() => server.stop());

/** What some route needs; the others ignore it. */
function bodyOf(route: string): unknown {
  const run = { assistant_id: "steps", input: { trail: [] } };
  if (route === "POST /runs/batch") return [run];
  if (route === "POST /runs/cancel") return { thread_id: records.thread_id, run_ids: [records.run_id] };
  if (route === "POST /mcp") return { jsonrpc: "2.0", id: 1, method: "tools/list" };
  if (route.endsWith("/commands")) return { id: 1, method: "run.start", params: run };
  return {
    ...run,
    ...{ graph_id: "steps", version: 1, schedule: "@daily", channels: ["values"], values: { trail: [] } },
    ...{ namespace: ["a"], key: "k", value: {}, thread_ids: [records.thread_id] },
  };
}

async function call(route: string, sent: Record<string, string>): Promise<{ status: number; body: unknown }> {
  const [verb = "", path = ""] = route.split(" ");
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => records[name] as string);
  const query = route === "GET /store/items" ? "?namespace=a&key=k" : "";
  const stop = new AbortController();
  const response = await fetch(server.url + filled + query, {
    method: verb,
    headers: sent,
    signal: stop.signal,
    ...(verb !== "GET" && { body: JSON.stringify(bodyOf(route)) }),
  });
  const isStream = response.headers.get("content-type")?.includes("event-stream");
  const body = isStream ? undefined : await response.json().catch(() => undefined);
  if (isStream) stop.abort();
  return { status: response.status, body };
}

/** Commands have their own errors, with HTTP 200. */
const outcomeOf = async (route: string, sent: Record<string, string>): Promise<unknown> => {
  const { status, body } = await call(route, sent);
  return route.endsWith("/commands") && status === 200 ? (body as { error?: string }).error : status;
};

test.each(ROUTES)("%s needs a user, and the consent of a handler", async route => {
  verdict = true;
  expect(await outcomeOf(route, {})).toBe(401);
  verdict = false;
  expect(await outcomeOf(route, headers)).toBe(route.endsWith("/commands") ? "permission_denied" : 403);
});

const OF_RECORDS = ROUTES.filter(route => route.includes("{") || route === "POST /runs/cancel");

test.each(OF_RECORDS)("%s finds no record that the filter of a handler hides", async route => {
  verdict = { owner: "another" };
  expect(await outcomeOf(route, headers)).toBe(route.endsWith("/commands") ? "no_such_run" : 404);
});
