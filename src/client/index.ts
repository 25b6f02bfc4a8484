/** `dragoman/client`: calls A2A agents from Node, browsers and workers. */
export type { Json, JsonObject } from "../lib/json.ts";
export type { Artifact, FaultCode, Message, Part, TaskState } from "../model/index.ts";
export { textOf } from "../model/index.ts";
export type {
  ArtifactChange,
  CallControl,
  ConnectedAgent,
  ConnectOptions,
  FileDetails,
  MessageContent,
  MessageItem,
  MessageOptions,
  MessageReply,
  PushHandle,
  StateChange,
  TailOptions,
  TaskHandle,
  TaskList,
  TaskUpdate,
} from "./api.ts";
export { connect } from "./connect.ts";
export { replyText, toBlob, toParts } from "./content.ts";
export { ClientError, RemoteError, UnavailableError } from "./errors.ts";
export type { DialectName, ProtocolBinding } from "./protocols.ts";
export { type AgentQuestion, answers, questionsOf } from "./questions.ts";
export type { RemoteState, RemoteTask, WebhookConfig } from "./types.ts";
