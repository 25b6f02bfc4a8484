/** The public API: for agent authors, and for programs that embed the server. */
export type { Call, CallOptions, CallReply, CallStep, CallStream, McpTools } from "./agent/calls.ts";
export type {
  AgentFile,
  ArtifactContent,
  AuthRequest,
  Content,
  DataOptions,
  FileContent,
  PartContent,
  Questions,
  TextOptions,
} from "./agent/content.ts";
export type {
  AgentOutput,
  // The former name of AgentOutput.
  AgentOutput as Said,
  AgentTask,
  Ctx,
  Outcome,
  StepScope,
} from "./agent/context.ts";
export type {
  AgentDefinition,
  AgentFunction,
  ExtendedCard,
  SkillDefinition,
  TypedDefinition,
} from "./agent/definition.ts";
export { agent } from "./agent/definition.ts";
export type {
  DataSchema,
  DeclaredSchemas,
  SchemaInput,
  SchemaOutput,
  StandardSchema,
} from "./agent/schema.ts";
export { type AgentEntry, type Config, defineConfig } from "./config/config.ts";
export type { Json, JsonObject } from "./lib/json.ts";
export type {
  AgentCard,
  AgentExtension,
  AgentSkill,
  Artifact,
  Credential,
  Message,
  Part,
  Usage,
} from "./model/index.ts";
export { textOf } from "./model/index.ts";
export type { AgentEvent, Log, McpResult, McpTool } from "./ports/index.ts";
export {
  type CreateAgent,
  createHandler,
  createServer,
  type HandlerOptions,
  // The former names of HandlerOptions and MountedServer.
  type HandlerOptions as HostParts,
  type ListeningServer,
  type MountedServer,
  type MountedServer as Mounted,
  type OpenBusPort,
  type OpenStorePort,
  type ServerOptions,
  type ServerPorts,
} from "./server/create-handler.ts";
