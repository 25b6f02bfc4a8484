import { toAgentName } from "../agent/definition.ts";

/** A file to import. */
export interface ImportSource {
  /** As the user named it. */
  readonly name: string;
  readonly text: string;
}

/** The text of a variable of the environment, which the written config reads. */
export class Variable {
  readonly name: string;
  readonly before: string;

  constructor(name: string, before = "") {
    this.name = name;
    this.before = before;
  }
}

/** A value of the written config. */
export type ConfigValue =
  | null
  | boolean
  | number
  | string
  | Variable
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue | undefined };
export type ConfigObject = Readonly<Record<string, ConfigValue | undefined>>;

/** An agent that passes its message through other agents, one after the other. */
export interface AgentSequence {
  readonly name: string;
  readonly description: string | undefined;
  readonly access: "public" | "internal" | undefined;
  readonly steps: readonly string[];
}

/** What the documents become, and what they do not. */
export class ImportDraft {
  readonly agents: (ConfigObject & { readonly name: string })[] = [];
  readonly sequences: AgentSequence[] = [];
  readonly mcpServers: Record<string, ConfigValue> = {};
  /** Variables that the config reads, with their content. */
  readonly variables = new Map<string, string>();
  /** One line for each thing that is not carried over, or not as it was. */
  readonly notes: string[] = [];
  auth: "tokens" | undefined;
  default: string | undefined;
  readonly #names = new Set<string>();

  note(subject: string, text: string): void {
    this.notes.push(`${subject}: ${text}`);
  }

  /** Members of a document that were not used. */
  noteRest(subject: string, paths: readonly string[]): void {
    for (const path of paths) this.note(subject, `${path} has no counterpart`);
  }

  /** Callers without a token call an agent; a public system calls its agents for them. */
  makePublic(name: string, reason: string): void {
    const index = this.agents.findIndex(agent => agent.name === name && agent.access !== "public");
    const agent = this.agents[index];
    if (agent === undefined) return;
    this.agents[index] = { ...agent, access: "public" };
    this.note(`agent ${name}`, `is public: ${reason}`);
  }

  /** A free name for an agent; undefined, with a note: the name has no allowed character. */
  claimName(subject: string, wanted: string): string | undefined {
    const base = toAgentName(wanted);
    if (base === "") {
      this.note(subject, "is not carried over: its name has neither a letter nor a digit");
      return undefined;
    }
    let name = base;
    for (let number = 2; this.#names.has(name); number++) name = `${base.slice(0, 60)}-${number}`;
    this.#names.add(name);
    if (name !== wanted) this.note(subject, `is served as "${name}"`);
    return name;
  }

  /** The variable for a secret: `openai-api-key` is `OPENAI_API_KEY`. */
  secret(reference: string, content: string): string {
    return this.variable(toVariableName(reference), content);
  }

  /** A variable that the config reads. Its name becomes code: one that is no identifier is changed. */
  variable(wanted: string, content: string): string {
    const name = /^[A-Za-z_]\w*$/.test(wanted) ? wanted : toVariableName(wanted);
    const known = this.variables.get(name);
    this.variables.set(name, known === undefined || known === content ? content : `${known}; ${content}`);
    return name;
  }
}

const toVariableName = (secret: string): string =>
  secret
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)|^$/, "_");
