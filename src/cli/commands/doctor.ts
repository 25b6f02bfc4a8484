import type { Command } from "commander";
import type { Settings } from "../../config/config.ts";
import type { StoreAdmin, StoreReport } from "../../ports/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { messageOf } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { formatCount, formatSize, formatTable } from "../terminal/text.ts";
import { dataOption, openStoreAt, readDataSettings } from "./data-option.ts";

interface DoctorFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman doctor                     the store in .dragoman
  dragoman doctor --data /srv/tasks --json

The server may be running. The exit code is 0 if there are no problems, otherwise 1.`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("doctor").description(SUMMARIES.doctor);
  dataOption(command)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: DoctorFlags) => {
      const { terminal } = context;
      const output = createOutput(terminal);
      const settings = await readDataSettings(terminal, flags);
      const store = await openStoreAt(terminal, settings.data);
      const checked = await check(output, store);
      const keyProblems = await findKeyProblems(settings, store);
      const findings = [...checked.findings, ...keyProblems];
      const report = { ...checked, findings, findingsCount: checked.findingsCount + keyProblems.length };
      if (flags.json) output.json(report);
      else print(output, report);
      context.exitCode = report.findingsCount === 0 ? EXIT.ok : EXIT.error;
    });
}

function check(output: Output, store: StoreAdmin): Promise<StoreReport> {
  let progress = "opening the store";
  output.startWaiting(() => progress);
  const onProgress = (done: number, total: number): void => {
    if (done > 0) progress = `checked ${done.toLocaleString("en")} of ${formatCount(total, "task")}`;
  };
  return store.check(onProgress).finally(output.stopWaiting);
}

/** Missing keys that the store needs. Keys that are not in a file are not checked. */
async function findKeyProblems(settings: Settings, store: StoreAdmin): Promise<readonly string[]> {
  const { keyFileOf, readKeyFile, listKeys } = await import("../../keys/index.ts");
  const file = keyFileOf(settings);
  if (file === undefined) return [];
  try {
    const counts = await store.countEncrypted();
    if (counts === undefined) return [];
    const ring = readKeyFile(file);
    if (!ring) {
      const use = await store.findKeyUse();
      return use === undefined ? [] : [`the key file ${file} does not exist, but ${use}`];
    }
    const known = listKeys(ring).map(({ id }) => id);
    return [...counts]
      .filter(([id]) => !known.includes(id))
      .map(([id, secrets]) => `${formatCount(secrets, "secret")} of the key ${id}, which is not in ${file}`);
  } catch (error) {
    return [messageOf(error)];
  }
}

function print(output: Output, report: StoreReport): void {
  const { file, bytes, schema, tasks, events, names, unfinished, findings, findingsCount } = report;
  const total = Object.values(unfinished).reduce((sum, one) => sum + one, 0);
  const byAgent = Object.entries(unfinished).map(([agent, count]) => `${agent} ${count}`);
  const rest =
    total === 0 ? "" : `, ${total.toLocaleString("en")} of them unfinished (${byAgent.join(", ")})`;
  const rows = [
    ["store", `${file} (${formatSize(bytes)}, schema ${schema})`],
    ["tasks", `${tasks.toLocaleString("en")}${rest}`],
    ["events", events.toLocaleString("en")],
    ["names", names.toLocaleString("en")],
  ];
  for (const line of formatTable(rows)) output.line(line);
  if (findingsCount === 0) return output.line("no problems found");
  output.line(`${formatCount(findingsCount, "problem")}:`);
  for (const finding of findings) output.line(`  ${finding}`);
  const omitted = findingsCount - findings.length;
  if (omitted > 0) output.line(`  … and ${omitted.toLocaleString("en")} more`);
}
