/** Documents of other systems as a project of this one: `dragoman import`. */
import { StartupError } from "../lib/startup-error.ts";
import { importArbiter } from "./arbiter.ts";
import type { ImportDraft, ImportSource } from "./draft.ts";
import { importOrloj } from "./orloj.ts";
import { writeProject } from "./write-project.ts";

const READERS: Readonly<
  Record<ImportSystem, (sources: readonly ImportSource[]) => ImportDraft | Promise<ImportDraft>>
> = {
  orloj: importOrloj,
  arbiter: importArbiter,
};
export type ImportSystem = "orloj" | "arbiter";

export interface ImportedProject {
  /** Texts by their file names. */
  readonly files: ReadonlyMap<string, string>;
  /** The agents that are served. */
  readonly agents: readonly string[];
  readonly notes: readonly string[];
  /** Variables that must be set before the server starts, with their content. */
  readonly variables: ReadonlyMap<string, string>;
  readonly needsToken: boolean;
}

/** An error if none of the agents can be served. */
export async function importProject(
  system: ImportSystem,
  sources: readonly ImportSource[],
): Promise<ImportedProject> {
  const draft = await READERS[system](sources);
  const { notes, variables } = draft;
  const agents = [...draft.agents, ...draft.sequences].map(({ name }) => name);
  if (agents.length === 0)
    throw new StartupError(
      ["No agent could be carried over, and nothing was written:", ...notes.map(note => `  ${note}`)].join(
        "\n",
      ),
    );
  const command = `npx dragoman import ${system} ${sources.map(({ name }) => name).join(" ")}`;
  return {
    files: writeProject(draft, command),
    agents,
    notes,
    variables,
    needsToken: draft.auth === "tokens",
  };
}
