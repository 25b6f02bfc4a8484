import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Argument, type Command } from "commander";
import type { ImportedProject, ImportSystem } from "../../import/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError, messageOf } from "../terminal/errors.ts";
import { createOutput } from "../terminal/output.ts";
import { oneLine, quoteForShell, type Terminal } from "../terminal/terminal.ts";

interface ImportFlags {
  readonly out: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman import orloj agents.yaml models.yaml tools.yaml
  dragoman import arbiter ~/.arbiter/agents/*.json ~/.arbiter/a2a_agents.json --out my-agents

What cannot be carried over is listed, here and in the written config; the exit code is then 5.
Secrets are not copied: the config reads them from variables.`;

export function define(program: Command, context: CommandContext): void {
  program
    .command("import")
    .description(SUMMARIES.import)
    .addArgument(new Argument("<system>", "where the files are from").choices(["orloj", "arbiter"]))
    .argument("<files...>", "files of that system")
    .option("--out <folder>", "folder of the config (default: this folder)", ".")
    .option("--force", "overwrite files that exist")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (system: ImportSystem, files: readonly string[], flags: ImportFlags) => {
      context.exitCode = await importFiles(context.terminal, system, files, flags);
    });
}

async function importFiles(
  terminal: Terminal,
  system: ImportSystem,
  names: readonly string[],
  { out, force, json }: ImportFlags,
): Promise<number> {
  const { importProject } = await import("../../import/index.ts");
  const sources = names.map(name => ({ name, text: readSource(resolve(terminal.cwd, name), name) }));
  const project = await importProject(system, sources);
  const folder = resolve(terminal.cwd, out);
  writeFiles(folder, project.files, force === true);
  const output = createOutput(terminal);
  const next = toNext(terminal, folder, project);
  const { agents, notes, files } = project;
  if (json) output.json({ folder, files: [...files.keys()], agents, notes, next });
  else {
    for (const file of files.keys()) output.line(`created ${file}`);
    if (notes.length > 0) output.line("\nNot carried over, or changed:");
    for (const note of notes) output.line(`  ${oneLine(note)}`);
    output.line("\nNext:");
    for (const step of next) output.line(`  ${step}`);
  }
  return notes.length === 0 ? EXIT.ok : EXIT.partial;
}

function readSource(path: string, name: string): string {
  try {
    const { size } = statSync(path);
    if (size > CLI_LIMITS.importBytesMax)
      throw new ClientError(`${name} is larger than ${CLI_LIMITS.importBytesMax} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError(`${name} cannot be read: ${messageOf(error)}`);
  }
}

/** Writes nothing if one of the files exists already. */
function writeFiles(folder: string, files: ReadonlyMap<string, string>, force: boolean): void {
  const existing = [...files.keys()].filter(file => existsSync(join(folder, file)));
  if (existing.length > 0 && !force)
    throw new ClientError(
      `${folder} already has ${existing.join(", ")}: nothing was written. Name another folder with --out, or add --force`,
    );
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

function toNext(
  terminal: Terminal,
  folder: string,
  { variables, needsToken }: ImportedProject,
): readonly string[] {
  const { program, cwd } = terminal;
  return [
    ...(folder === cwd ? [] : [`cd ${quoteForShell(relative(cwd, folder))}`]),
    ...[...variables].map(([name, content]) => `export ${name}=…  # ${oneLine(content)}`),
    ...(needsToken ? [`${program} token create --principal NAME`] : []),
    `${program} serve`,
  ];
}
