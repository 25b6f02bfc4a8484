/** `dragoman/react`: a conversation with an agent, and a task, as hooks. */
import { useMemo, useSyncExternalStore } from "react";
import type { ConnectedAgent } from "../client/index.ts";
import { type ConversationOptions, type ConversationState, ConversationStore } from "./conversation.ts";

export { answers, replyText, textOf } from "../client/index.ts";
export { type ConversationOptions, type ConversationState, ConversationStore };

/** What `useAgent` returns: the state, and what a page can do. */
export interface AgentConversation
  extends ConversationState,
    Pick<ConversationStore, "send" | "answer" | "stop" | "reset"> {}
/** What `useTask` returns. */
export interface ObservedTask extends ConversationState, Pick<ConversationStore, "answer" | "stop"> {}

/** A conversation with an agent. `to`: its URL, or a connection. The options of the first rendering count. */
export function useAgent(to: string | ConnectedAgent, options: ConversationOptions = {}): AgentConversation {
  const { storageKey, taskId } = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an options object that is written in place is new each time.
  const conversation = useMemo(() => new ConversationStore(to, options), [to, storageKey, taskId]);
  const { subscribe, getState, send, answer, stop, reset } = conversation;
  const state = useSyncExternalStore(subscribe, getState, getState);
  return { ...state, send, answer, stop, reset };
}

/** One task by its id, as it is now and as it changes. */
export const useTask = (
  to: string | ConnectedAgent,
  taskId: string,
  options: Omit<ConversationOptions, "taskId" | "storageKey"> = {},
): ObservedTask => useAgent(to, { ...options, taskId });
