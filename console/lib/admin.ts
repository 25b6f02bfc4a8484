import { signal } from "@preact/signals";
import type { AgentRow, InboxPage, Me } from "../../src/admin/api.ts";
import { ApiError, getJson, reasonOf, sendJson } from "./api.ts";
import type { Query } from "./router.ts";

/** The admin API (docs/reference/admin-api.md). */
const ADMIN = "admin/v1";

export function adminPath(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === "string" ? [value] : (value ?? [])) if (one) search.append(name, one);
  const text = search.toString();
  return `${ADMIN}/${path}${text && `?${text}`}`;
}

export const readAdmin = <T>(path: string, query: Query = {}, abort?: AbortSignal): Promise<T> =>
  getJson<T>(adminPath(path, query), abort);
export const postAdmin = <T>(path: string, body: unknown): Promise<T> => sendJson<T>(adminPath(path), body);
export const deleteAdmin = <T>(path: string): Promise<T> => sendJson<T>(adminPath(path), {}, "DELETE");

export const me = signal<Me | undefined>(undefined);
export const agents = signal<readonly AgentRow[] | undefined>(undefined);
/** How many tasks wait for a person. */
export const waiting = signal(0);
/** Why the page cannot work: shown instead of a view. */
export const trouble = signal<string | undefined>(undefined);

export const segment = encodeURIComponent;

const RETRY_MS = 2000;

/** The first reads of the page, and again after a new token; while the server does not respond, again and again. */
export async function loadSession(): Promise<void> {
  try {
    me.value = await readAdmin<Me>("me");
    trouble.value = undefined;
    await Promise.all([loadAgents(), loadWaiting()]);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return;
    trouble.value = describe(error);
    if (!(error instanceof ApiError) || error.status >= 500) setTimeout(() => void loadSession(), RETRY_MS);
  }
}

function describe(error: unknown): string {
  if (error instanceof ApiError && error.status === 403)
    return `This token has no permission for the console: it needs console:read. (${error.message})`;
  if (error instanceof ApiError && error.status === 404)
    return "This server does not serve the admin API. Start it with --console on.";
  return `The server does not respond: ${reasonOf(error)}. The page tries again.`;
}

export async function loadAgents(): Promise<void> {
  agents.value = (await readAdmin<{ agents: readonly AgentRow[] }>("agents")).agents;
}

export async function loadWaiting(): Promise<void> {
  waiting.value = (await readAdmin<InboxPage>("inbox", { pageSize: "1" })).total;
}

export const mayAct = (): boolean => me.value?.mayAct ?? false;
/** Messages and cancels are ordinary calls with permissions of their own; a console that only reads sends none. */
const may = (permission: "send" | "cancel"): boolean =>
  me.value?.console === "on" && me.value.permissions.includes(permission);
export const maySend = (): boolean => may("send");
export const mayCancel = (): boolean => may("cancel");
export const findAgent = (name: string): AgentRow | undefined => agents.value?.find(one => one.name === name);
export const dialectTitle = (name: string): string =>
  me.value?.features.dialects.find(one => one.name === name)?.title ?? name;
