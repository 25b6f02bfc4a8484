import { signal } from "@preact/signals";
import { ApiError, isNetworkError, request, untilAccess } from "./api.ts";

export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The fields of an event stream (WHATWG HTML §9.2.6), from bytes in pieces of any size. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  let id: string | undefined;
  let event = "message";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { id, event, data: data.join("\n") };
          event = "message";
          data = [];
          continue;
        }
        const [, field = "", text = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
        if (field === "id") id = text;
        else if (field === "event") event = text;
        else if (field === "data") data.push(text);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export type Connection =
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly from: string | undefined; readonly inMs: number };

/** What the top bar shows: `lost` while any stream of this page waits to connect again. */
const lost = signal<ReadonlyMap<symbol, Connection & { readonly kind: "lost" }>>(new Map());
export const lostConnections = lost;

function report(key: symbol, connection: Connection | undefined): void {
  const next = new Map(lost.peek());
  if (connection?.kind === "lost") next.set(key, connection);
  else if (!next.delete(key)) return;
  lost.value = next;
}

export interface TailOptions {
  readonly path: () => string;
  readonly init?: () => RequestInit;
  /** The id after which the first connection begins. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ServerEvent) => void;
  readonly onOpen?: (response: Response) => void;
  /** Whether a stream that the server ended is to be opened again; default: yes. */
  readonly again?: () => boolean;
}

const RETRY_MS = [300, 600, 1200, 2500, 5000, 8000] as const;
/** The server sends a comment every 15 s: a stream that is silent for much longer is dead. */
const SILENT_MS = 45_000;

/** Reads a stream until it is over; after a lost connection, or a new token, continues with `Last-Event-ID`, however often. */
export async function tail(options: TailOptions): Promise<void> {
  const key = Symbol("stream");
  let last = options.after;
  let failures = 0;
  try {
    while (!options.signal.aborted) {
      try {
        await once(
          options,
          last,
          event => {
            failures = 0;
            report(key, undefined);
            if (event.id !== undefined) last = event.id;
            options.onEvent(event);
          },
          () => report(key, undefined),
        );
        if (options.again && !options.again()) return;
        failures = Math.max(failures, 1);
      } catch (error) {
        if (options.signal.aborted) return;
        if (error instanceof ApiError && error.status === 401) {
          await untilAccess(options.signal);
          continue;
        }
        if (error instanceof ApiError && error.status < 500 && error.status !== 429 && error.status !== 408)
          throw error;
        if (!isNetworkError(error) && !(error instanceof ApiError)) throw error;
        failures += 1;
      }
      const inMs = RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 300;
      if (failures > 1) report(key, { kind: "lost", from: last, inMs });
      await pause(inMs, options.signal);
    }
  } finally {
    report(key, undefined);
  }
}

async function once(
  options: TailOptions,
  last: string | undefined,
  onEvent: (event: ServerEvent) => void,
  onOpen: () => void,
): Promise<void> {
  const silence = new AbortController();
  const signal = AbortSignal.any([options.signal, silence.signal]);
  const init = options.init?.() ?? {};
  const headers = {
    Accept: "text/event-stream",
    ...(init.headers as Record<string, string>),
    ...(last !== undefined && { "Last-Event-ID": last }),
  };
  const response = await request(options.path(), { ...init, headers, signal });
  onOpen();
  options.onOpen?.(response);
  if (!response.body) return;
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  const watched = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENT_MS);
        controller.enqueue(chunk);
      },
    }),
  );
  try {
    for await (const event of readEvents(watched)) {
      if (options.signal.aborted) return;
      onEvent(event);
    }
  } catch (error) {
    if (silence.signal.aborted && !options.signal.aborted)
      throw new TypeError("The stream was silent for too long");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
