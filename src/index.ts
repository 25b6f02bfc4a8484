/** What authors of agents import. */
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
  Said,
  SkillDefinition,
  TextOptions,
} from "./agent.ts";
export { agent } from "./agent.ts";
export { type Config, defineConfig } from "./config/config.ts";
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
export type { AgentEvent, Log } from "./ports.ts";
