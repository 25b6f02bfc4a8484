/** The files of an imported project, as a person would write them. */
import { type AgentSequence, type ConfigValue, type ImportDraft, Variable } from "./draft.ts";

/** Texts by their file names. */
export function writeProject(draft: ImportDraft, command: string): ReadonlyMap<string, string> {
  const files = new Map([["dragoman.config.ts", toConfig(draft, command)]]);
  for (const sequence of draft.sequences) files.set(toFileName(sequence), toAgentFile(sequence));
  return files;
}

const toFileName = ({ name }: AgentSequence): string => `agents/${name}.ts`;

function toConfig(draft: ImportDraft, command: string): string {
  const { auth, agents, sequences, mcpServers } = draft;
  const config = {
    auth,
    default: draft.default,
    agents: [...agents, ...sequences.map(toFileName)],
    mcpServers: Object.keys(mcpServers).length > 0 ? mcpServers : undefined,
  };
  const notes =
    draft.notes.length > 0 ? ["", "Not carried over, or changed:", ...draft.notes.map(toItem)] : [];
  const comment = [`Written by: ${command}`, ...notes].map(line => `// ${toLine(line)}`.trimEnd());
  return `${comment.join("\n")}
${toImport("defineConfig")}

export default defineConfig(${toSource(config, "")});
`;
}

const toImport = (name: string): string => `import { ${name} } from "dragoman";`;

const toItem = (note: string): string => `- ${note}`;

/** A comment ends with its line, whatever the imported files say. */
const toLine = (text: string): string => text.replace(/\s+/g, " ");

function toSource(value: ConfigValue, indent: string): string {
  if (value instanceof Variable)
    return value.before === ""
      ? `process.env.${value.name} ?? ""`
      : `\`${value.before}\${process.env.${value.name}}\``;
  if (typeof value === "string") return toText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map(one => toSource(one, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([key, member]) => `${toKey(key)}: ${toSource(member as ConfigValue, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return open + close;
  return `${open}\n${items.map(item => `${inner}${item},\n`).join("")}${indent}${close}`;
}

function toKey(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

/** A prompt keeps its lines. */
function toText(text: string): string {
  if (!text.includes("\n") || text.includes("\r")) return JSON.stringify(text);
  return `\`${text.replace(/[\\`]|\$(?=\{)/g, "\\$&")}\``;
}

function toAgentFile({ name, description, access, steps }: AgentSequence): string {
  const members = { name, description, access };
  const lines = Object.entries(members).flatMap(([key, value]) =>
    value === undefined ? [] : [`  ${key}: ${JSON.stringify(value)},`],
  );
  return `${toImport("agent")}

const STEPS = ${JSON.stringify(steps)};

/** Each agent gets the answer of the one before it. */
export default agent({
${lines.join("\n")}
  async *run(task, ctx) {
    let text = task.text;
    for (const step of STEPS) {
      const reply = await ctx.call(step, text);
      if (reply.state !== "completed") return yield ctx.fail(\`\${step}: \${reply.text}\`);
      text = reply.text;
    }
    yield ctx.text(text);
  },
});
`;
}
