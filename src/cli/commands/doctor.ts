import type { Command } from "commander";
import type { Report } from "../../store/sqlite/index.ts";
import { EXIT, type Session } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { count, size, table } from "../terminal/text.ts";
import { findKeyTrouble } from "./check-keys.ts";
import { dataSettings, placeOption } from "./data-option.ts";
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

export function define(program: Command, session: Session): void {
  const command = program
    .command("doctor")
    .description("Look for anything that is wrong with a store; nothing is changed");
  placeOption(command)
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: DoctorFlags) => {
      const output = createOutput(session.terminal, CLI_LIMITS.patienceMs);
      const settings = await dataSettings(session.terminal, flags.data);
      const report = withFindings(await examine(output, settings.data), await findKeyTrouble(settings));
      if (flags.json) output.json({ ...report });
      else print(output, report);
      session.exitCode = report.findingsCount === 0 ? EXIT.ok : EXIT.trouble;
    });
}

async function examine(output: Output, folder: string): Promise<Report> {
  let progress = "looking at the file";
  output.waiting(() => progress);
  const onProgress = (done: number, total: number): void => {
    if (done > 0) progress = `looked at ${done.toLocaleString("en")} of ${count(total, "task")}`;
  };
  if (isDatabase(folder)) {
    const { examinePostgres } = await loadPostgres();
    return examinePostgres({ url: folder, log: SILENT, onProgress }).finally(output.rest);
  }
  const { examineStore } = await import("../../store/sqlite/index.ts");
  // Ctrl-C simply ends the process: there is nothing to put in order.
  return examineStore(folder, { onProgress, signal: AbortSignal.any([]) }).finally(output.rest);
}

const withFindings = (report: Report, more: readonly string[]): Report => ({
  ...report,
  findings: [...report.findings, ...more],
  findingsCount: report.findingsCount + more.length,
});

function print(output: Output, report: Report): void {
  const { file, bytes, schema, tasks, events, names, findings, findingsCount } = report;
  const rows = [
    ["store", `${file} (${size(bytes)}, schema ${schema})`],
    ["tasks", `${tasks.toLocaleString("en")}${unfinished(report)}`],
    ["events", events.toLocaleString("en")],
    ["names", names.toLocaleString("en")],
  ];
  for (const line of table(rows)) output.line(line);
  if (findingsCount === 0) return output.line("nothing is wrong");
  output.line(`${count(findingsCount, "problem")}:`);
  for (const finding of findings) output.line(`  ${finding}`);
  if (findingsCount > findings.length)
    output.line(`  … and ${count(findingsCount - findings.length, "other")}`);
}

function unfinished({ unfinished: counts }: Report): string {
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const each = Object.entries(counts).map(([agent, one]) => `${agent} ${one}`);
  return all === 0 ? "" : `, ${all.toLocaleString("en")} of them unfinished (${each.join(", ")})`;
}
