import type { Command } from "commander";
import { fetchCard, readInterfaces } from "../../client/card.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { JsonObject } from "../../lib/json.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createInterrupt } from "../terminal/interrupt.ts";
import { createOutput } from "../terminal/output.ts";
import { toAccess } from "../terminal/session.ts";
import { oneLine, paint, type Terminal } from "../terminal/terminal.ts";
import { defineVerify } from "./card-verify.ts";
import { type Remote, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

const EXAMPLES = `
Examples:
  dragoman card http://127.0.0.1:2024
  dragoman card https://agents.example/.well-known/agent-card.json --json
  dragoman card http://127.0.0.1:2024 --json --header 'A2A-Version: 0.3'`;

export function define(program: Command, session: CommandContext): void {
  const command = program.command("card <url>").description("Show what an agent says about itself");
  remoteOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: RemoteFlags) => {
      session.exitCode = await showCard(session.terminal, toRemote(url, flags));
    });
  defineVerify(command, session);
}

async function showCard(terminal: Terminal, remote: Remote): Promise<number> {
  const interrupt = createInterrupt(terminal, undefined);
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  try {
    output.startWaiting(`waiting for the card of ${remote.target.base}`);
    const access = toAccess(terminal, remote);
    const { card, url } = await fetchCard(remote.target, access, interrupt.signal);
    output.stopWaiting();
    const bold = (text: string) => paint(terminal.out, "bold", text);
    terminal.out.write(remote.json ? `${JSON.stringify(card, null, 2)}\n` : describeCard(card, url, bold));
    return EXIT.ok;
  } catch (error) {
    if (interrupt.reason === undefined) throw error;
    return EXIT.interrupted;
  } finally {
    output.stopWaiting();
    interrupt.close();
  }
}

type Paint = (text: string) => string;

/** A card for people, whatever version it was written in. */
export function describeCard(card: JsonObject, url: string, bold: Paint): string {
  const lines = [
    `${bold(said(card.name))} ${said(card.version)}`.trim(),
    said(card.description),
    "",
    ...facts([
      ["card", url],
      ["provider", providerOf(card)],
      ["documentation", said(card.documentationUrl)],
      ...readInterfaces(card).map(
        ({ url: at, binding, version }): Fact => [binding || "interface", `${at} (${version})`],
      ),
      ["can", capabilitiesOf(card)],
      ["takes", words(card.defaultInputModes)],
      ["gives", words(card.defaultOutputModes)],
      ["secured by", Object.keys(asObject(card.securitySchemes)).join(", ")],
      ["signatures", asList(card.signatures).length > 0 ? `${asList(card.signatures).length}` : ""],
    ]),
    ...asList(card.skills).flatMap(skill => ["", ...describeSkill(asObject(skill), bold)]),
  ];
  return `${lines.map(line => line.trimEnd()).join("\n")}\n`;
}

type Fact = readonly [name: string, value: string];
const facts = (all: readonly Fact[]): readonly string[] =>
  all.filter(([, value]) => value !== "").map(([name, value]) => `  ${name.padEnd(14)}${oneLine(value)}`);

const said = (value: Parameters<typeof asText>[0]): string => oneLine(asText(value) ?? "");
const words = (value: Parameters<typeof asList>[0]): string => asList(value).map(said).join(", ");

function providerOf(card: JsonObject): string {
  const { organization, url } = asObject(card.provider);
  return [said(organization), said(url)].filter(Boolean).join(", ");
}

function capabilitiesOf(card: JsonObject): string {
  const { extensions, ...flags } = asObject(card.capabilities);
  const on = Object.keys(flags).filter(name => flags[name] === true);
  return [...on, ...asList(extensions).map(one => said(asObject(one).uri))].join(", ");
}

function describeSkill(skill: JsonObject, bold: Paint): readonly string[] {
  const title = `${bold(said(skill.name) || said(skill.id))}: ${said(skill.description)}`;
  return [title, ...facts([["tags", words(skill.tags)], ...examplesOf(skill)])];
}

const examplesOf = (skill: JsonObject): readonly Fact[] =>
  asList(skill.examples).map((example): Fact => ["example", said(example)]);
