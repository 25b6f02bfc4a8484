import type { Command } from "commander";
import { fetchCard, readInterfaces } from "../../client/card.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import { toAccess } from "../terminal/target.ts";
import { oneLine, paint, type Terminal } from "../terminal/terminal.ts";
import { defineVerify } from "./card-verify.ts";
import { type Remote, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

const EXAMPLES = `
Examples:
  dragoman card                       the default agent of the local server
  dragoman card --agent booking
  dragoman card https://agents.example/.well-known/agent-card.json --json
  dragoman card http://127.0.0.1:2024 --json --header 'A2A-Version: 0.3'`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("card [url]").description(SUMMARIES.card);
  remoteOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string | undefined, flags: RemoteFlags) => {
      context.exitCode = await printCard(context.terminal, toRemote(context.terminal, url, flags));
    });
  defineVerify(command, context);
}

const printCard = (terminal: Terminal, remote: Remote): Promise<number> =>
  runInterruptible(terminal, async ({ output, signal }) => {
    output.startWaiting(`waiting for the card of ${remote.target.base}`);
    const { card, url } = await fetchCard(remote.target, toAccess(terminal, remote), signal);
    output.stopWaiting();
    const bold = (text: string) => paint(terminal.out, "bold", text);
    terminal.out.write(remote.json ? `${JSON.stringify(card, null, 2)}\n` : describeCard(card, url, bold));
    return EXIT.ok;
  });

type Paint = (text: string) => string;

/** A card of any version as text. */
export function describeCard(card: JsonObject, url: string, bold: Paint): string {
  const { organization, url: providerUrl } = asObject(card.provider);
  const { extensions, ...flags } = asObject(card.capabilities);
  const capabilities = [
    ...Object.keys(flags).filter(name => flags[name] === true),
    ...asList(extensions).map(extension => toText(asObject(extension).uri)),
  ];
  const lines = [
    `${bold(toText(card.name))} ${toText(card.version)}`.trim(),
    toText(card.description),
    "",
    ...toRows([
      ["card", url],
      ["provider", [toText(organization), toText(providerUrl)].filter(Boolean).join(", ")],
      ["documentation", toText(card.documentationUrl)],
      ...readInterfaces({ card, url }).map(
        ({ url: at, binding, version }): Row => [binding || "interface", `${at} (${version})`],
      ),
      ["capabilities", capabilities.join(", ")],
      ["input", joinTexts(card.defaultInputModes)],
      ["output", joinTexts(card.defaultOutputModes)],
      ["security", Object.keys(asObject(card.securitySchemes)).join(", ")],
      ["signatures", asList(card.signatures).length > 0 ? `${asList(card.signatures).length}` : ""],
    ]),
    ...asList(card.skills).flatMap(skill => ["", ...describeSkill(asObject(skill), bold)]),
  ];
  return `${lines.map(line => line.trimEnd()).join("\n")}\n`;
}

function describeSkill(skill: JsonObject, bold: Paint): readonly string[] {
  const title = `${bold(toText(skill.name) || toText(skill.id))}: ${toText(skill.description)}`;
  const examples = asList(skill.examples).map((example): Row => ["example", toText(example)]);
  return [title, ...toRows([["tags", joinTexts(skill.tags)], ...examples])];
}

type Row = readonly [name: string, value: string];
const toRows = (rows: readonly Row[]): readonly string[] =>
  rows.filter(([, value]) => value !== "").map(([name, value]) => `  ${name.padEnd(14)}${oneLine(value)}`);

const toText = (value: Json | undefined): string => oneLine(asText(value) ?? "");
const joinTexts = (value: Json | undefined): string => asList(value).map(toText).join(", ");
