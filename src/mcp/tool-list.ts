/** Agents as tools. */
import type { Tool } from "@modelcontextprotocol/server";
import type { JsonObject } from "../lib/json.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";

export const GET_TASK = "get_task";
export const CANCEL_TASK = "cancel_task";

/** Tools that are not agents. */
const RESERVED: readonly string[] = [GET_TASK, CANCEL_TASK];
const PREFIX = "agent-";

const toToolName = (name: AgentName): string => (RESERVED.includes(name) ? `${PREFIX}${name}` : name);

/** An agent as a tool, or one skill of an agent whose skills have schemas. */
export interface AgentTool {
  readonly name: string;
  readonly agent: Agent;
  readonly skill: string | undefined;
}

/** A tool for each agent, and for each skill with an input schema of its own; if all have one, only for these. */
const toAgentTools = (agents: readonly Agent[]): readonly AgentTool[] =>
  agents.flatMap((agent): readonly AgentTool[] => {
    const name = toToolName(agent.name);
    const skills = agent.card.skills.filter(({ id }) => agent.skillSchemas?.[id]?.input);
    const isWhole = skills.length < agent.card.skills.length || agent.inputSchema !== undefined;
    return [
      ...(isWhole ? [{ name, agent, skill: undefined }] : []),
      ...skills.map(({ id }) => ({ name: `${name}__${toIdentifier(id)}`, agent, skill: id })),
    ];
  });

/** Clients accept letters, digits, - and _ in the name of a tool. */
const toIdentifier = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_");

export const findTool = (name: string, agents: readonly Agent[]): AgentTool | undefined =>
  toAgentTools(agents).find(tool => tool.name === name);

/** The agents as tools, and two tools for tasks that take longer than a call. */
export const toTools = (agents: readonly Agent[]): Tool[] => [
  ...toAgentTools(agents).map(toTool),
  getTask,
  cancelTask,
];

function toTool({ name, agent, skill }: AgentTool): Tool {
  const { card, inputSchema, skillSchemas } = agent;
  const own = skill === undefined ? inputSchema : skillSchemas?.[skill]?.input;
  return {
    name,
    title: skill === undefined ? card.name : titleOf(agent, skill),
    description: descriptionOf(agent, skill),
    inputSchema: toSchema({
      message: text("The message to the agent"),
      data: {
        ...(own ?? { type: "object" }),
        description: "Data for the agent, beside or instead of a message",
      },
      task: text("The id of a task that requires input: the message is the answer"),
      context: text("The context of an earlier result: continues that conversation"),
    }),
  };
}

const titleOf = ({ card }: Agent, skill: string): string =>
  `${card.name}: ${card.skills.find(({ id }) => id === skill)?.name}`;

function descriptionOf({ name, card }: Agent, skill: string | undefined): string {
  if (skill !== undefined) return card.skills.find(({ id }) => id === skill)?.description ?? card.description;
  const skills = card.skills
    .filter(({ id }) => id !== name)
    .map(one => `\n- ${one.name}: ${one.description}`);
  return `${card.description}${skills.join("")}`;
}

const text = (description: string): JsonObject => ({ type: "string", description });
const toSchema = (properties: JsonObject, required: readonly string[] = []): Tool["inputSchema"] =>
  ({ type: "object", properties, required }) as unknown as Tool["inputSchema"];

const taskInput = { task: text("The id of the task") };
const getTask: Tool = {
  name: GET_TASK,
  title: "Get a task",
  description: "Waits for a task for a while and returns its state",
  inputSchema: toSchema(taskInput, ["task"]),
  annotations: { readOnlyHint: true },
};
const cancelTask: Tool = {
  name: CANCEL_TASK,
  title: "Cancel a task",
  description: "Cancels a task that an agent is working on",
  inputSchema: toSchema(taskInput, ["task"]),
};
