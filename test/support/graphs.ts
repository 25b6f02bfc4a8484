/** Agents that are graphs, in a separate folder, where LangGraph is installed as in a user's project. */
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const INSTALLED = new URL("../../node_modules", import.meta.url).pathname;

/** Writes a file beside an installed LangGraph. */
export function writeGraph(folder: string, name: string, text: string): string {
  const installed = join(folder, "node_modules");
  if (!existsSync(installed)) symlinkSync(INSTALLED, installed);
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/**
 * The head of test graphs. `mark(line)` appends to the trail, `gate(name)` waits until there is a file of
 * that name.
 */
export const graphHead = (folder: string): string => `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { FakeListChatModel, FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { Annotation, Command, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { langgraph } from "dragoman/langgraph";

const mark = line => appendFileSync(${JSON.stringify(join(folder, "trail"))}, line + "\\n");
const gate = async (name, signal) => {
  while (!existsSync(${JSON.stringify(`${folder}/`)} + name)) await sleep(5, undefined, { signal });
};
const says = (words, more = {}) => new AIMessage({ content: words, ...more });
const lastOf = state => state.messages.at(-1).content;
`;
