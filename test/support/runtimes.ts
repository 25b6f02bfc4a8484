/** The runtimes under test: an agent of each that follows the table in src/testing/contracts/runtime.ts. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CreatedAgent, RuntimeUnderTest } from "../../src/testing/contracts/runtime.ts";
import { contractScript, startChatServer } from "./chat-server.ts";
import { startChild, writeAgent } from "./child.ts";
import { contractAgentBody } from "./contract-agent.ts";
import { graphHead, writeGraph } from "./graphs.ts";
import { startProxy } from "./proxy.ts";

export type NamedRuntime = RuntimeUnderTest & { readonly name: string };

const MODEL = new URL("ai-model.ts", import.meta.url).href;
const PROGRAM = new URL("programs/contract.mjs", import.meta.url).pathname;

/** The table of the contract as a graph: the last message selects the node. */
const GRAPH = `
const speaker = new FakeListChatModel({ responses: ["one two three"], sleep: 1 });
// Its text is visible while the node goes on: a cancel after it finds a node that waits.
const waiter = new FakeListChatModel({ responses: ["waiting"] });
/** Fake models lose their usage when they stream. */
class Spender extends FakeStreamingChatModel {
  async *_streamResponseChunks(...words) {
    for await (const chunk of super._streamResponseChunks(...words)) {
      chunk.message.usage_metadata = { input_tokens: 3.5, output_tokens: 2.5, total_tokens: 6 };
      yield chunk;
    }
  }
}
const spender = new Spender({ chunks: [says("sp"), says("ent")] });
const said = words => ({ messages: [says(words)] });
const nodes = {
  stream: async state => ({ messages: [await speaker.invoke(state.messages)] }),
  work: () => { mark("begun"); return said("before "); },
  after: async (state, { signal }) => { await gate("open", signal); return said("after"); },
  wait: async (state, { signal }) => {
    await waiter.invoke(state.messages);
    await sleep(2 ** 30, undefined, { signal }).catch(() => mark("stopped"));
  },
  fail: () => { throw new Error("SECRET"); },
  ask: () => said("You chose " + interrupt("Which colour?")),
  spend: async state => ({ messages: [await spender.invoke(state.messages)] }),
  recall: state => {
    const earlier = state.messages.slice(0, -1).filter(one => one.type === "human").map(one => one.content);
    return said(earlier.join(", ") || "nothing");
  },
  other: () => said("ok"),
};
const graph = new StateGraph(MessagesAnnotation);
for (const [name, run] of Object.entries(nodes)) graph.addNode(name, run);
graph.addConditionalEdges(START, state => (lastOf(state) in nodes ? lastOf(state) : "other"), Object.keys(nodes));
graph.addEdge("work", "after");
`;

async function createProgram(folder: string, options: object): Promise<CreatedAgent> {
  const script = join(folder, "agent.mjs");
  copyFileSync(PROGRAM, script);
  const agent = {
    runtime: "process",
    name: "tested",
    command: [process.execPath, script],
    cwd: folder,
    ...options,
  };
  return { agents: [agent] };
}

/** Those whose server may be in the process of the test. */
export const RUNTIMES: readonly NamedRuntime[] = [
  {
    name: "a function",
    createAgent: async (folder, more) => ({
      agents: [writeAgent(folder, "tested", contractAgentBody(folder), more)],
    }),
  },
  {
    name: "the AI SDK",
    async createAgent(folder, more) {
      const file = join(folder, "tested.ts");
      const made = `contractAgent(${JSON.stringify(folder)}, ${JSON.stringify(more)})`;
      writeFileSync(file, `import { contractAgent } from "${MODEL}";\nexport default ${made};\n`);
      return { agents: [file] };
    },
  },
  {
    name: "an OpenAI-compatible endpoint",
    asks: false,
    async createAgent(folder, more) {
      const { url, close } = await startChatServer(contractScript(folder));
      return { agents: [{ runtime: "openai", name: "tested", baseUrl: url, model: "fake", ...more }], close };
    },
  },
  { name: "a program, one process for each run", createAgent: createProgram },
  {
    name: "a program, in a pool of processes",
    createAgent: (folder, more) => createProgram(folder, { pool: 2, ...more }),
  },
];

/** The agent runs on a second server, behind a proxy that can fail. */
export const REMOTE: NamedRuntime = {
  name: "a remote agent",
  resumes: true,
  spends: false,
  async createAgent(folder, more) {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    const proxy = await startProxy();
    proxy.instead = (body, response) => {
      if (!body.includes('"fail"')) return false;
      response.writeHead(400).end("SECRET");
      return true;
    };
    const file = writeAgent(elsewhere, "worker", contractAgentBody(folder));
    const flags = ["--public-url", proxy.url, "--log-level", "warn"];
    const remote = await startChild({ agents: [file], data: join(elsewhere, "data"), flags });
    proxy.target = remote.url;
    const spec = { runtime: "remote", name: "tested", card: proxy.url, ...more };
    const close = async (): Promise<void> => {
      await remote.kill();
      await proxy.close();
    };
    return { agents: [spec], close };
  },
};

/** A checkpoint is stored after the output of its node: only a kill long after the output is sure to find it. */
export const LANGGRAPH: NamedRuntime = {
  name: "LangGraph",
  resumes: true,
  async createAgent(folder, more) {
    const options = JSON.stringify({ name: "tested", separator: "", ...more });
    const text = `${graphHead(folder)}${GRAPH}export default langgraph(graph.compile(), ${options});\n`;
    return { agents: [writeGraph(folder, "tested.ts", text)] };
  },
};
