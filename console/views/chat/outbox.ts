import type { V1Message } from "../../lib/v1.ts";

/** A message that the server has not confirmed: kept over a reload, and sent again with the same key. */
export interface Pending {
  readonly key: string;
  readonly agent: string;
  /** "": a new conversation. */
  readonly contextId: string;
  readonly message: V1Message;
  readonly streaming: boolean;
  readonly at: number;
}

const KEY = "dragoman-outbox";

export function readOutbox(): readonly Pending[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as Pending[];
  } catch {
    return [];
  }
}

function write(all: readonly Pending[]): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Large files exceed the storage: the message is then kept until the page is left.
  }
}

export const addToOutbox = (pending: Pending): void => write([...readOutbox(), pending]);
export const removeFromOutbox = (key: string): void => write(readOutbox().filter(one => one.key !== key));

const draftKey = (agent: string, contextId: string): string => `dragoman-draft ${agent} ${contextId}`;

export const readDraft = (agent: string, contextId: string): string =>
  sessionStorage.getItem(draftKey(agent, contextId)) ?? "";

export function writeDraft(agent: string, contextId: string, text: string): void {
  if (text === "") sessionStorage.removeItem(draftKey(agent, contextId));
  else
    try {
      sessionStorage.setItem(draftKey(agent, contextId), text);
    } catch {
      // The draft lasts until the page is left.
    }
}
