import { signal } from "@preact/signals";

/** The root of the server: the page is at `ROOT/console/`, whatever the path above it. */
export const ROOT = new URL("..", new URL(".", document.baseURI));

const TOKEN_KEY = "dragoman-token";

/** The bearer token, in this tab only. */
export const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? "");

export type Access = "unknown" | "granted" | "required" | "refused";
/** Whether the server accepts the calls of this page: `required` opens the token dialog. */
export const access = signal<Access>("unknown");

export function setToken(value: string): void {
  token.value = value;
  if (value) sessionStorage.setItem(TOKEN_KEY, value);
  else sessionStorage.removeItem(TOKEN_KEY);
  access.value = "unknown";
}

const isRefused = (value: Access): boolean => value === "required" || value === "refused";

/** Waits for another token after the server refused a call. */
export function untilAccess(abort: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    let stop = (): void => {};
    const end = (): void => {
      // A subscription calls at once, before it can be stopped.
      queueMicrotask(() => stop());
      abort.removeEventListener("abort", end);
      resolve();
    };
    abort.addEventListener("abort", end, { once: true });
    stop = access.subscribe(value => {
      if (!isRefused(value) || abort.aborted) end();
    });
  });
}

export class ApiError extends Error {
  readonly status: number;
  readonly body: unknown;
  constructor(status: number, message: string, body?: unknown) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

export const urlOf = (path: string): URL => new URL(path.replace(/^\//, ""), ROOT);

export function authorization(): Record<string, string> {
  return token.value ? { Authorization: `Bearer ${token.value}` } : {};
}

/** `fetch` below the root of the server with the token; a status that is no success is an `ApiError`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...authorization(), ...(init.headers as Record<string, string>) };
  const response = await fetch(urlOf(path), { ...init, headers, cache: "no-store" });
  if (response.status === 401) access.value = token.value ? "refused" : "required";
  else if (access.value !== "granted" && response.status !== 403 && response.status < 500)
    access.value = "granted";
  if (response.ok) return response;
  const text = await response.text();
  const body = parsed(text);
  throw new ApiError(
    response.status,
    messageOf(body) ?? `${response.status} ${response.statusText}`.trim(),
    body,
  );
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, {
    headers: { Accept: "application/json" },
    ...(signal && { signal }),
  });
  return (await response.json()) as T;
}

export async function sendJson<T>(path: string, body: unknown, method = "POST"): Promise<T> {
  const init = { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) };
  const response = await request(path, init);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of an error body: `{error: {message}}`, `{error}`, `{message}`, `{detail}`. */
function messageOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error, message, detail } = body as Record<string, unknown>;
  const inner =
    typeof error === "object" && error !== null ? (error as { message?: unknown }).message : error;
  return [inner, message, detail].find((one): one is string => typeof one === "string");
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A lost connection, as opposed to an answer of the server. */
export const isNetworkError = (error: unknown): boolean =>
  !(error instanceof ApiError) && !(error instanceof DOMException && error.name === "AbortError");
