import type { Command } from "commander";
import type { StoreReport } from "../../store/sqlite/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { formatCount, formatSize, formatTable } from "../terminal/text.ts";
import { findKeyTrouble } from "./check-keys.ts";
import { readDataSettings, placeOption } from "./data-option.ts";
import { isDatabase, loadPostgres, SILENT } from "./open-store.ts";

interface DoctorFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman doctor                     the store in .dragoman, also while its server runs
  dragoman doctor --data /srv/tasks --json

The exit code is 0 if nothing is wrong, and 1 if something is.`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("doctor")
    .description("Look for anything that is wrong with a store; nothing is changed");
  placeOption(command)
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: DoctorFlags) => {
      const output = createOutput(session.terminal, CLI_LIMITS.waitingDelayMs);
      const settings = await readDataSettings(session.terminal, flags.data);
      const report = withFindings(await examine(output, settings.data), await findKeyTrouble(settings));
      if (flags.json) output.json({ ...report });
      else print(output, report);
      session.exitCode = report.findingsCount === 0 ? EXIT.ok : EXIT.error;
    });
}

async function examine(output: Output, folder: string): Promise<StoreReport> {
  let progress = "looking at the file";
  output.startWaiting(() => progress);
  const onProgress = (done: number, total: number): void => {
    if (done > 0) progress = `looked at ${done.toLocaleString("en")} of ${formatCount(total, "task")}`;
  };
  if (isDatabase(folder)) {
    const { checkPostgres } = await loadPostgres();
    return checkPostgres({ url: folder, log: SILENT, onProgress }).finally(output.stopWaiting);
  }
  const { checkStore } = await import("../../store/sqlite/index.ts");
  // Ctrl-C simply ends the process: there is nothing to put in order.
  return checkStore(folder, { onProgress, signal: AbortSignal.any([]) }).finally(output.stopWaiting);
}

const withFindings = (report: StoreReport, more: readonly string[]): StoreReport => ({
  ...report,
  findings: [...report.findings, ...more],
  findingsCount: report.findingsCount + more.length,
});

function print(output: Output, report: StoreReport): void {
  const { file, bytes, schema, tasks, events, names, findings, findingsCount } = report;
  const rows = [
    ["store", `${file} (${formatSize(bytes)}, schema ${schema})`],
    ["tasks", `${tasks.toLocaleString("en")}${unfinished(report)}`],
    ["events", events.toLocaleString("en")],
    ["names", names.toLocaleString("en")],
  ];
  for (const line of formatTable(rows)) output.line(line);
  if (findingsCount === 0) return output.line("nothing is wrong");
  output.line(`${formatCount(findingsCount, "problem")}:`);
  for (const finding of findings) output.line(`  ${finding}`);
  if (findingsCount > findings.length)
    output.line(`  … and ${formatCount(findingsCount - findings.length, "other")}`);
}

function unfinished({ unfinished: counts }: StoreReport): string {
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const each = Object.entries(counts).map(([agent, one]) => `${agent} ${one}`);
  return all === 0 ? "" : `, ${all.toLocaleString("en")} of them unfinished (${each.join(", ")})`;
}
