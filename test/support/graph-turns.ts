/** Graphs that are run turn by turn, without a server. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { type Part, textOf } from "../../src/model/index.ts";
import type { AgentEvent } from "../../src/ports/index.ts";
import { type GraphSource, type LanggraphOptions, langgraph } from "../../src/runtime/langgraph/index.ts";
import { Conversation } from "./turn.ts";

export const ai = (content: string, more: object = {}): AIMessage => new AIMessage({ content, ...more });

/** A state with messages and a few more members. */
export const STATE = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>,
  count: Annotation<number>,
});
export type State = typeof STATE.State;
export type Node = (
  state: State,
  config: { writer?: (chunk: unknown) => void; configurable?: JsonObject },
) => unknown;

/** A graph as a node of another graph. */
export const asNode = (graph: unknown): Node => graph as Node;

/** Nodes in a sequence. */
export function chain(nodes: Readonly<Record<string, Node>>): StateGraph<typeof STATE.spec> {
  const graph = new StateGraph(STATE) as unknown as Loose;
  let before: string = START;
  for (const [name, run] of Object.entries(nodes)) {
    graph.addNode(name, run).addEdge(before, name);
    before = name;
  }
  return graph as never;
}
interface Loose {
  addNode(name: string, run: unknown): Loose;
  addEdge(from: string, to: string): Loose;
}

export const lastOf = (state: { messages: BaseMessage[] }): string => String(state.messages.at(-1)?.content);

/** An agent of a graph; `name` is "tested" by default, without a separator. */
export const graphAgent = (graph: GraphSource, options: Partial<LanggraphOptions> = {}): AgentDefinition =>
  langgraph(graph, { name: "tested", ...options });

/** The result of one message. */
export async function runTurn(
  definition: AgentDefinition,
  content: string | readonly Part[] = "hi",
  metadata?: JsonObject,
): Promise<Conversation> {
  const conversation = new Conversation().addMessage(content, metadata);
  await conversation.run(definition);
  return conversation;
}

export const data = (value: JsonObject): Part => ({ kind: "data", data: value });
export const stateOf = ({ task }: Conversation): string => task.status.state;
export const responseText = ({ task }: Conversation): string =>
  textOf(task.artifacts.filter(one => one.name === "response").flatMap(one => one.parts));
export const questionIn = ({ task }: Conversation): readonly Part[] => task.status.message?.parts ?? [];
/** Names and data of the artifacts that are not text. */
export const dataIn = ({ task }: Conversation): unknown[] =>
  task.artifacts.flatMap(({ name, parts }) =>
    parts.flatMap(part => (part.kind === "data" ? [[name, part.data]] : [])),
  );
export const textsIn = (events: readonly AgentEvent[]): string[] =>
  events.flatMap(event => (event.type === "artifact" ? [textOf(event.artifact.parts)] : []));
