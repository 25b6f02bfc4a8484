/** Calls of an agent to other agents and to MCP tools. */

import type { Json, JsonObject } from "../lib/json.ts";
import type { Artifact, Message, TaskState, Usage } from "../model/index.ts";
import type { McpResult, McpTool } from "../ports/index.ts";
import type { Content } from "./content.ts";

/** Calls another agent; see `Ctx.call`. */
export interface Call {
  /**
   * `to`: the name of an agent of the same server, the URL of a card or of a server, or a card. Resolves when the task
   * has ended or asks.
   */
  (to: string | URL | JsonObject, content: Content, options?: CallOptions): Promise<CallReply>;
  /** The same as a stream; `result` is the reply. */
  stream(to: string | URL | JsonObject, content: Content, options?: CallOptions): CallStream;
  /** Answers the question of a reply: continues its task. Options such as `headers` and `trusted` are given again. */
  answer(reply: CallReply, content: Content, options?: Omit<CallOptions, "taskId">): Promise<CallReply>;
}

export interface CallOptions {
  /** Continues this task: answers the question in an earlier reply. */
  readonly taskId?: string | undefined;
  /** Default: the context id that this context has used with that agent before. "new": a new context. */
  readonly contextId?: string | undefined;
  /** The URL was chosen by the author, not by a caller: private addresses are allowed. */
  readonly trusted?: boolean | undefined;
  /** Headers of every request, such as Authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The URL for calls, instead of the one in the card. */
  readonly endpoint?: string | undefined;
  /** The dialect, instead of the one in the card; required without a card. */
  readonly dialect?: CallDialect | undefined;
  readonly metadata?: JsonObject | undefined;
  /** After this time the other task is canceled, and the call throws; default: no timeout. */
  readonly timeoutMs?: number | undefined;
}
export type CallDialect = "v1" | "v0.3" | "v0.2" | "v0.1" | "langgraph" | "orloj" | "arbiter" | "simple";

export interface CallReply {
  /** All text of the artifacts; if there is none, of the last message. */
  readonly text: string;
  readonly state: TaskState;
  /** The task of the other agent; null: it responded with a message. */
  readonly task: { readonly id: string; readonly contextId: string } | null;
  readonly artifacts: readonly Artifact[];
  /** The message of the last status, or the message that is the response. */
  readonly message: Message | null;
  /** The counters that an agent of the same server has used for this message; null: not known. */
  readonly usage: Usage | null;
  /** The agent that was called, as it was given. */
  readonly to: string | JsonObject;
}

export interface CallStream extends AsyncIterable<CallStep> {
  readonly result: Promise<CallReply>;
}

/** One update of the other agent. */
export type CallStep =
  | {
      readonly kind: "artifact";
      readonly artifact: Artifact;
      /** The parts are appended to the artifact with this id. */
      readonly append: boolean;
      readonly text: string;
    }
  | { readonly kind: "status"; readonly message: Message; readonly text: string };

/** Tools of an MCP server; calls are aborted with the run. */
export interface McpTools {
  listTools(): Promise<readonly McpTool[]>;
  callTool(name: string, input?: { readonly [name: string]: Json }): Promise<McpResult>;
}
