/** What authors of agents import, and programs that serve agents themselves. */
export type {
  AgentDefinition,
  AgentFile,
  AgentFunction,
  AgentTask,
  ArtifactContent,
  Content,
  Ctx,
  DataOptions,
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
  Json,
  JsonObject,
  Message,
  Part,
  Usage,
} from "./model/index.ts";
export { textOf } from "./model/index.ts";
export type { AgentEvent, Log } from "./ports.ts";
