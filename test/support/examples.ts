/** The bundled examples and a few agents of other kinds, in a separate process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "./child.ts";

export const EXAMPLES = new URL("../../examples", import.meta.url).pathname;

/** An extension that the agent `polite` supports and the agent `strict` requires. */
export const EXTENSION = "https://extensions.example/politeness/v1";

const MORE: Readonly<Record<string, string>> = {
  greeter: `export default {
    name: "greeter",
    replies: "message",
    run: task => "Hello, " + task.text,
  };`,
  polite: `export default {
    name: "polite",
    extensions: [{ uri: "${EXTENSION}", description: "says please" }],
    run: task => "Please: " + task.text,
  };`,
  strict: `export default {
    name: "strict",
    extensions: [{ uri: "${EXTENSION}", required: true }],
    run: task => "At last: " + task.text,
  };`,
  mute: `export default {
    name: "mute",
    streaming: false,
    push: false,
    run: task => "In one piece: " + task.text,
  };`,
};

export async function startExamples(folder: string): Promise<Child> {
  const files = Object.entries(MORE).map(([name, text]) => {
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, text);
    return file;
  });
  return startChild({
    agents: [EXAMPLES, ...files],
    data: join(folder, "data"),
    flags: ["--default", "echo", "--durability", "process", "--log-level", "warn"],
  });
}
