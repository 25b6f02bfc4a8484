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
} from "./agent.ts";
export { agent } from "./agent.ts";
export { type Config, defineConfig } from "./config/config.ts";
export { createHandler, type HostParts, type Mounted } from "./handler.ts";
export type {
  AgentCard,
  AgentExtension,
  AgentSkill,
  Artifact,
  Credential,
  Json,
  JsonObject,
  Message,
  Part,
  Usage,
} from "./model/index.ts";
export { textOf } from "./model/index.ts";
export type { AgentEvent, Log, McpResult, McpTool } from "./ports.ts";
