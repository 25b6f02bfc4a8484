import type { TaskRow } from "../../../src/admin/api.ts";
import { allInQuery, inQuery, type Query } from "../../lib/router.ts";
import { STATE_NAMES } from "../../lib/states.ts";

/** The filters of the list, as they are in the URL. */
export interface Filters {
  readonly text: string;
  readonly agents: readonly string[];
  readonly states: readonly string[];
  readonly caller: string;
  readonly tenant: string;
  readonly contextId: string;
  readonly since: string;
  readonly isCrashed: boolean;
}

export const SINCE: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  "15m": { label: "15 minutes", ms: 900_000 },
  "1h": { label: "1 hour", ms: 3_600_000 },
  today: { label: "Today", ms: 0 },
  "24h": { label: "24 hours", ms: 86_400_000 },
  "7d": { label: "7 days", ms: 604_800_000 },
};

export const readFilters = (): Filters => ({
  text: inQuery("text"),
  agents: allInQuery("agent"),
  states: allInQuery("state").filter(state => STATE_NAMES.includes(state)),
  caller: inQuery("caller"),
  tenant: inQuery("tenant"),
  contextId: inQuery("contextId"),
  since: inQuery("since") in SINCE ? inQuery("since") : "",
  isCrashed: inQuery("crashed") === "true",
});

function startOf(since: string, now: number): number | undefined {
  const span = SINCE[since];
  if (!span) return undefined;
  return since === "today" ? new Date(now).setHours(0, 0, 0, 0) : now - span.ms;
}

export function toQuery(filters: Filters, now = Date.now()): Query {
  const from = startOf(filters.since, now);
  return {
    text: filters.text,
    agent: filters.agents,
    state: filters.states,
    caller: filters.caller,
    tenant: filters.tenant,
    contextId: filters.contextId,
    ...(from !== undefined && { from: String(from) }),
    ...(filters.isCrashed && { crashed: "true" }),
    // Answers that were bare messages are runs of agents, too.
    replies: "true",
  };
}

/** Whether a task that the feed reports belongs to the list. */
export function matches(filters: Filters, row: TaskRow): boolean {
  const from = startOf(filters.since, Date.now());
  const text = filters.text.toLowerCase();
  return (
    (filters.agents.length === 0 || filters.agents.includes(row.agent)) &&
    (filters.states.length === 0 || filters.states.includes(row.state)) &&
    (filters.caller === "" || row.principal === filters.caller) &&
    (filters.tenant === "" || row.tenant === filters.tenant) &&
    (filters.contextId === "" || row.contextId === filters.contextId) &&
    (from === undefined || row.createdAt >= from) &&
    (!filters.isCrashed || row.crashes > 0) &&
    (text === "" ||
      [row.id, row.title, row.text, row.alias ?? "", row.contextId].some(one =>
        one.toLowerCase().includes(text),
      ))
  );
}

const WORDS: Readonly<Record<string, keyof Filters>> = {
  caller: "caller",
  tenant: "tenant",
  context: "contextId",
  since: "since",
};

/** `agent:trips state:failed lisbon` in the search field: words with a colon are filters. */
export function fromTyped(typed: string, before: Filters): Query {
  const agents = new Set(before.agents);
  const states = new Set(before.states);
  const changes: Record<string, string> = {};
  const rest = typed.replace(
    /\b(agent|state|caller|tenant|context|since):(\S+)(?=\s)/g,
    (_, name: string, value: string) => {
      if (name === "agent") agents.add(value);
      else if (name === "state") states.add(value);
      else changes[WORDS[name] ?? name] = value;
      return "";
    },
  );
  return { ...changes, agent: [...agents], state: [...states], text: rest.replace(/^\s+/, "") };
}
