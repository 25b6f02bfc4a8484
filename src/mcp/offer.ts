/** Agents as tools. */
import type { Tool } from "@modelcontextprotocol/server";
import type { JsonObject } from "../lib/json.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";

export const GET_TASK = "get_task";
export const CANCEL_TASK = "cancel_task";

/** Names of tools that are none of agents. */
const TAKEN: readonly string[] = [GET_TASK, CANCEL_TASK];
const PREFIX = "agent-";

const toolNameOf = (name: AgentName): string => (TAKEN.includes(name) ? `${PREFIX}${name}` : name);

export const agentOf = (tool: string, agents: readonly Agent[]): Agent | undefined =>
  agents.find(agent => toolNameOf(agent.name) === tool);

/** One tool for each agent, and two for tasks that take longer than a call. */
export const toTools = (agents: readonly Agent[]): Tool[] => [...agents.map(toTool), getTask, cancelTask];

function toTool({ name, card, inputSchema }: Agent): Tool {
  const skills = card.skills
    .filter(skill => skill.id !== name)
    .map(skill => `\n- ${skill.name}: ${skill.description}`);
  const description = `${card.description}${skills.join("")}`;
  return {
    name: toolNameOf(name),
    title: card.name,
    description,
    inputSchema: toSchema({
      message: text("What to say to the agent"),
      data: {
        ...(inputSchema ?? { type: "object" }),
        description: "Data for the agent, beside or instead of words",
      },
      task: text("The handle of a task that asked something: the message is the answer"),
      context: text("The context of an earlier answer: goes on with that conversation"),
    }),
  };
}

const text = (description: string): JsonObject => ({ type: "string", description });
const toSchema = (properties: JsonObject, required: readonly string[] = []): Tool["inputSchema"] =>
  ({ type: "object", properties, required }) as unknown as Tool["inputSchema"];

const handle = { task: text("The handle of the task") };
const getTask: Tool = {
  name: GET_TASK,
  title: "Get a task",
  description: "Waits a while for a task that an agent is working on, and tells how it stands",
  inputSchema: toSchema(handle, ["task"]),
  annotations: { readOnlyHint: true },
};
const cancelTask: Tool = {
  name: CANCEL_TASK,
  title: "Cancel a task",
  description: "Ends a task that an agent is working on",
  inputSchema: toSchema(handle, ["task"]),
};
