import type { Command } from "commander";
import { parseJson, readText, sendRequest, toHttpError } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { toAccess } from "../terminal/session.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { formatAge, formatCount, formatTable } from "../terminal/text.ts";
import { type RemoteFlags, serverOptions, toRemote } from "./remote-options.ts";

interface RedeliverFlags extends RemoteFlags {
  readonly fromStart?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman push http://127.0.0.1:2024 0199a1b2-…
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-…`;

const REDELIVER_EXAMPLES = `
Examples:
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-…              all webhooks of the task, also those given up
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-… my-hook      one of them
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-… --from-start everything again, with the same ids`;

export function define(program: Command, context: CommandContext): void {
  const command = program
    .command("push <url> <task>")
    .description("Show the webhooks of a task and their deliveries; needs the scope admin");
  serverOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, task: string, flags: RemoteFlags) => {
      const request = { method: "GET", path: `?task=${encodeURIComponent(task)}` } as const;
      await callAdmin(context, url, flags, request, print);
    });
  const redeliver = command
    .command("redeliver <url> <task> [config]")
    .description("Deliver pending and failed notifications now; needs the scope admin");
  serverOptions(redeliver)
    .option("--from-start", "also notifications that were delivered before")
    .addHelpText("after", REDELIVER_EXAMPLES)
    .action(async (url: string, task: string, config: string | undefined, flags: RedeliverFlags) => {
      const body = JSON.stringify({ task, config, from: flags.fromStart ? "start" : undefined });
      await callAdmin(context, url, flags, { method: "POST", path: "/redeliver", body }, (output, response) =>
        output.line(`delivering to ${formatCount(Number(response.redelivered), "webhook")}`),
      );
    });
}

interface AdminRequest {
  readonly method: "GET" | "POST";
  /** Appended to /admin/pushes. */
  readonly path: string;
  readonly body?: string;
}

async function callAdmin(
  context: CommandContext,
  address: string,
  flags: RemoteFlags,
  { method, path, body }: AdminRequest,
  print: (output: Output, response: JsonObject, terminal: Terminal) => void,
): Promise<void> {
  const { terminal } = context;
  const remote = toRemote(address, flags);
  const url = `${remote.target.base.replace(/\/agents\/[^/]+$/, "")}/admin/pushes${path}`;
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  context.exitCode = await runInterruptible(terminal, async ({ output, signal }) => {
    output.startWaiting(`waiting for ${url}`);
    const request = { method, url, headers, ...(body !== undefined && { body }) };
    const response = await sendRequest(toAccess(terminal, remote), request, signal);
    const text = await readText(url, response);
    if (!response.ok) throw toHttpError(url, response, text);
    const json = asObject(parseJson(url, text));
    if (remote.json) output.json(json);
    else print(output, json, terminal);
    return EXIT.ok;
  });
}

function print(output: Output, response: JsonObject, terminal: Terminal): void {
  const pushes = asList(response.pushes).map(asObject);
  if (pushes.length === 0) output.note("no webhooks, or task not found");
  for (const push of pushes) {
    output.line(`${toText(push.id)}  ${toText(push.url)}`);
    output.line(`  ${describeState(push, terminal.now())}`);
    const rows = asList(push.attempts).map(attempt => toRow(asObject(attempt)));
    const width = terminal.out.tty ? terminal.out.columns - 2 : undefined;
    for (const line of formatTable(rows, width)) output.line(`  ${line}`);
  }
}

const toText = (value: Json | undefined): string => oneLine(asText(value) ?? "");

function describeState(push: JsonObject, now: number): string {
  const { count, since } = asObject(push.failed);
  const failures = push.failed
    ? `${formatCount(Number(count), "failed attempt")}, the first ${formatAge(asText(since), now)}`
    : "";
  if (push.state === "done") return "done: the task has ended, and everything was delivered";
  if (push.state === "dead") return failures ? `given up after ${failures}` : "given up without an attempt";
  return failures ? `${failures}; next at ${toText(push.nextAt)}` : `delivered up to event ${push.place}`;
}

const toRow = ({ at, event, status, ms, error }: JsonObject): readonly string[] => [
  toText(at),
  `event ${event}`,
  status === undefined ? "no response" : String(status),
  `${ms} ms`,
  toText(error),
];
