import { signal } from "@preact/signals";
import type { Part } from "../../../src/model/message.ts";
import { go } from "../../lib/router.ts";
import { textIn } from "../../lib/task-log.ts";

export interface Draft {
  readonly agent: string;
  readonly contextId: string;
  readonly text: string;
  readonly parts: readonly Part[];
}

/** A message that was sent before and is to be edited: the composer takes it. */
export const draft = signal<Draft | undefined>(undefined);

export function edit(agent: string, contextId: string, parts: readonly Part[]): void {
  draft.value = { agent, contextId, text: textIn(parts), parts: parts.filter(part => part.kind !== "text") };
}

/** The same in a new conversation: in one whose task waits, the message would be its answer. */
export function startOver(agent: string, parts: readonly Part[]): void {
  edit(agent, "", parts);
  go(["chat"], { agent });
}
