/** What `init` can create. The files are in templates/NAME of this package. */
export interface Template {
  /** One line for the help and the README. */
  readonly description: string;
  /** The files that the user changes first, with their purpose. */
  readonly files: Readonly<Record<string, string>>;
  /** Packages beside dragoman, whose versions are those that this version was tested with. */
  readonly packages: readonly string[];
}

export const TEMPLATES = {
  function: {
    description: "An agent that is a function.",
    files: { "agents/hello.ts": "the agent; each file in `agents` is one" },
    packages: [],
  },
  langgraph: {
    description: "A LangGraph graph that asks before it acts.",
    files: { "src/graph.ts": "the graph, with a fake model: use any chat model of LangChain" },
    packages: ["@langchain/core", "@langchain/langgraph"],
  },
  "ai-sdk": {
    description: "An agent of the AI SDK with tools.",
    files: { "agents/travel.ts": "the agent; the variable AI_MODEL names a model, otherwise a mock answers" },
    packages: ["ai"],
  },
  openai: {
    description: "A model behind an OpenAI-compatible endpoint, without code.",
    files: {
      "dragoman.config.ts": "endpoint, model and prompt; OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API_KEY",
    },
    packages: [],
  },
  python: {
    description: "A Python program.",
    files: { "agent.py": "the agent; it needs Python 3 and no packages" },
    packages: [],
  },
  mcp: {
    description: "An agent that uses tools of an MCP server, and is a tool itself.",
    files: { "agents/planner.ts": "the agent", "clock.ts": "a small MCP server with one tool" },
    packages: ["@modelcontextprotocol/client", "@modelcontextprotocol/server", "zod"],
  },
} as const satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof TEMPLATES;
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];
