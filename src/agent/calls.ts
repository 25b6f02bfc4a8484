/** What the author of an agent sees of agents and tools somewhere else. */

import type { Json, JsonObject } from "../lib/json.ts";
import type { Artifact, Message, TaskState } from "../model/index.ts";
import type { McpResult, McpTool } from "../ports/index.ts";
import type { Content } from "./definition.ts";

/** Calls an agent somewhere else; see `Ctx.call`. */
export interface Call {
  /** `to`: where its card is, or its server; or the card itself. Resolves when the other has come to an end, or asks. */
  (to: string | URL | JsonObject, content: Content, options?: CallOptions): Promise<CallReply>;
  /** The same, step by step; `result` is the reply. */
  stream(to: string | URL | JsonObject, content: Content, options?: CallOptions): CallStream;
}

export interface CallOptions {
  /** Answers the question of this task, which an earlier reply told. */
  readonly taskId?: string | undefined;
  /** In which conversation: by default the one that this context has with that agent; "new": none of before. */
  readonly contextId?: string | undefined;
  /** The address is the author's own choice and not a caller's: it may be inside. */
  readonly trusted?: boolean | undefined;
  /** Headers of every call, such as those that say who calls. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where calls go, whatever the card says. */
  readonly endpoint?: string | undefined;
  /** What is spoken there, whatever the card says; without a card it must be told. */
  readonly dialect?: CallDialect | undefined;
  readonly metadata?: JsonObject | undefined;
  /** After this time the other task is canceled, and the call throws; default: as long as it takes. */
  readonly timeoutMs?: number | undefined;
}
export type CallDialect = "v1" | "v0.3" | "v0.2" | "v0.1" | "langgraph" | "orloj" | "arbiter" | "simple";

export interface CallReply {
  /** All text of the artifacts; if there is none, of the last message. */
  readonly text: string;
  readonly state: TaskState;
  /** The task of the other agent; null: it answered with a bare message. */
  readonly task: { readonly id: string; readonly contextId: string } | null;
  readonly artifacts: readonly Artifact[];
  /** What it said last, beside its artifacts. */
  readonly message: Message | null;
}

export interface CallStream extends AsyncIterable<CallStep> {
  readonly result: Promise<CallReply>;
}

/** One thing that the other agent says on the way. */
export type CallStep =
  | {
      readonly kind: "artifact";
      readonly artifact: Artifact;
      /** It is added to the artifact of this id. */
      readonly append: boolean;
      readonly text: string;
    }
  | { readonly kind: "status"; readonly message: Message; readonly text: string };

/** Tools of an MCP server; calls end with the run. */
export interface McpTools {
  listTools(): Promise<readonly McpTool[]>;
  callTool(name: string, input?: { readonly [name: string]: Json }): Promise<McpResult>;
}
