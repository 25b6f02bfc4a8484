/** What authors of agents import, and programs that serve agents themselves. */
export type { Call, CallOptions, CallReply, CallStep, CallStream, McpTools } from "./agent/calls.ts";
export type {
  AgentDefinition,
  AgentFile,
  AgentFunction,
  AgentTask,
  ArtifactContent,
  AuthRequest,
  Content,
  Ctx,
  DataOptions,
  ExtendedCard,
  FileContent,
  Outcome,
  PartContent,
  Questions,
  Said,
  SkillDefinition,
  StepScope,
  TextOptions,
} from "./agent/definition.ts";
export { agent } from "./agent/definition.ts";
export { type Config, defineConfig } from "./config/config.ts";
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
export { createHandler, type HostParts, type Mounted } from "./server/create-handler.ts";
