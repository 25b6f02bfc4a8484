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

export const findAgent = (tool: string, agents: readonly Agent[]): Agent | undefined =>
  agents.find(agent => toToolName(agent.name) === tool);

/** One tool for each agent, and two for tasks that take longer than a call. */
export const toTools = (agents: readonly Agent[]): Tool[] => [...agents.map(toTool), getTask, cancelTask];

function toTool({ name, card, inputSchema }: Agent): Tool {
  const skills = card.skills
    .filter(skill => skill.id !== name)
    .map(skill => `\n- ${skill.name}: ${skill.description}`);
  const description = `${card.description}${skills.join("")}`;
  return {
    name: toToolName(name),
    title: card.name,
    description,
    inputSchema: toSchema({
      message: text("The message to the agent"),
      data: {
        ...(inputSchema ?? { type: "object" }),
        description: "Data for the agent, beside or instead of a message",
      },
      task: text("The id of a task that requires input: the message is the answer"),
      context: text("The context of an earlier result: continues that conversation"),
    }),
  };
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
