import { type Command, InvalidArgumentError } from "commander";
import type { JsonObject } from "../../lib/json.ts";
import {
  DEFAULT_PERMISSIONS,
  DEFAULT_TENANT,
  isCallerName,
  PERMISSIONS,
  type Permission,
} from "../../model/index.ts";
import type { AccessToken, TokenStore } from "../../ports/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { toMs } from "../terminal/duration.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { oneLine } from "../terminal/terminal.ts";
import { formatAge, formatTable } from "../terminal/text.ts";
import { dataPlace, placeOption } from "./data-option.ts";
import { openTokens } from "./open-store.ts";

interface Flags {
  readonly data?: string;
  readonly json?: boolean;
}
interface CreateFlags extends Flags {
  readonly principal: string;
  readonly tenant?: readonly string[];
  readonly agents?: readonly string[];
  readonly scopes?: readonly Permission[];
  readonly expires?: number | "never";
  readonly name?: string;
}
interface ListFlags extends Flags {
  readonly all?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman token create --principal alice                    for 90 days, all but administration
  dragoman token create --principal ci --tenant acme --agents echo --scopes send,read --expires 30d --name "nightly run"
  dragoman token list
  dragoman token revoke 1f2e3d4c5b6a

The server may run meanwhile, and need not: it sees at once what is changed. It asks for tokens with --auth tokens.`;

export function define(program: Command, session: CommandContext): void {
  const token = program
    .command("token")
    .description("Give out tokens to callers, list them and take them back")
    .addHelpText("after", EXAMPLES);
  defineCreate(token, session);
  defineList(token, session);
  defineRevoke(token, session);
}

const LIFETIME_MS = 90 * 86_400_000;

function defineCreate(token: Command, session: CommandContext): void {
  const command = token.command("create").description("Make a token; it is shown once");
  placeOption(command)
    .requiredOption("--principal <name>", "who calls with it: the tasks of one principal are its own", toName)
    .option(
      "--tenant <names>",
      "of which tenant it is; several with commas between them (default: default)",
      toNames,
    )
    .option("--agents <names>", "the only agents that it can call, with commas between them", toList)
    .option(
      "--scopes <names>",
      `what it may do: some of ${PERMISSIONS.join(", ")}, with commas between them (default: all but admin)`,
      toGrants,
    )
    .option(
      "--expires <age>",
      "how long it is good: 90d, 12h, 30min, 60s, or never (default: 90d)",
      toLifetime,
    )
    .option("--name <text>", "what it is for, to find it again")
    .option("--json", "print JSON for programs")
    .action((flags: CreateFlags) =>
      withBook(session, flags, (book, output) => create(session, book, output, flags)),
    );
}

async function create(
  { terminal }: CommandContext,
  book: TokenStore,
  output: Output,
  flags: CreateFlags,
): Promise<void> {
  const { issueToken, toTokenJson } = await import("../../auth/issue-token.ts");
  const { now, randomHex: chance } = terminal;
  const { principal, agents, name, expires = LIFETIME_MS } = flags;
  const { tenant: tenants = [DEFAULT_TENANT], scopes: grants = DEFAULT_PERMISSIONS } = flags;
  const expiresAt = expires === "never" ? undefined : now() + expires;
  const made = await issueToken(
    { tokens: book, wallTime: now, chance },
    { principal, tenants, grants, agents, name, expiresAt },
  );
  if (flags.json) return output.json({ token: made.secret, ...toTokenJson(made.token) });
  output.line(made.secret);
  const until = expiresAt === undefined ? "for ever" : `until ${new Date(expiresAt).toISOString()}`;
  output.note(`token ${made.token.id} of ${oneLine(principal)} is good ${until}; it is not shown again`);
}

function defineList(token: Command, session: CommandContext): void {
  const command = token.command("list").description("List tokens, the newest first");
  placeOption(command)
    .option("--all", "those as well that have expired or were revoked")
    .option("--json", "print JSON for programs")
    .action((flags: ListFlags) =>
      withBook(session, flags, (book, output) => list(session, book, output, flags)),
    );
}

async function list(
  { terminal }: CommandContext,
  book: TokenStore,
  output: Output,
  flags: ListFlags,
): Promise<void> {
  const { toTokenJson } = await import("../../auth/issue-token.ts");
  const now = terminal.now();
  const tokens = (await book.list()).filter(token => flags.all || stateOf(token, now) === "good");
  if (flags.json) {
    for (const token of tokens) output.json(toTokenJson(token));
    return;
  }
  if (tokens.length === 0) return output.note("no tokens");
  const rows = tokens.map(token => toRow(token, toTokenJson(token), now));
  for (const line of formatTable([HEADING, ...rows], terminal.out.tty ? terminal.out.columns : undefined))
    output.line(line);
}

const HEADING = ["ID", "PRINCIPAL", "TENANT", "SCOPES", "AGENTS", "EXPIRES", "USED", "NAME"];

function toRow(token: AccessToken, written: JsonObject, now: number): readonly string[] {
  const { id, principal, tenants, grants, agents, name = "" } = token;
  const used = written.lastUsedAt === null ? "never" : formatAge(String(written.lastUsedAt), now);
  const state = stateOf(token, now);
  const end = token.expiresAt === undefined ? "never" : String(written.expiresAt).slice(0, 10);
  return [
    ...[id, oneLine(principal), oneLine(tenants.join(",")), grants.join(","), agents?.join(",") ?? "all"],
    ...[state === "good" ? end : state, used, oneLine(name)],
  ];
}

function stateOf({ revokedAt, expiresAt }: AccessToken, now: number): "good" | "revoked" | "expired" {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "good";
}

function defineRevoke(token: Command, session: CommandContext): void {
  const command = token
    .command("revoke <id>")
    .description("Take a token back, at once, also from open streams");
  placeOption(command)
    .option("--json", "print JSON for programs")
    .action((id: string, flags: Flags) =>
      withBook(session, flags, (book, output) => revoke(session, book, output, id, flags)),
    );
}

/** Whoever has the token itself, and not its id, may say that. */
async function revoke(
  { terminal }: CommandContext,
  book: TokenStore,
  output: Output,
  id: string,
  flags: Flags,
): Promise<void> {
  const { isWellFormed, toHash } = await import("../../auth/token.ts");
  const { toTokenJson } = await import("../../auth/issue-token.ts");
  const token = await book.revoke(isWellFormed(id) ? toHash(id) : id, terminal.now());
  if (!token) throw new ClientError("There is no such token; `token list --all` shows those that there are");
  if (flags.json) return output.json(toTokenJson(token));
  output.line(`token ${token.id} of ${oneLine(token.principal)} is revoked`);
}

async function withBook(
  session: CommandContext,
  flags: Flags,
  work: (book: TokenStore, output: Output) => Promise<void>,
): Promise<void> {
  const { terminal } = session;
  const book = await openTokens(await dataPlace(terminal, flags.data), terminal.now);
  try {
    await work(book, createOutput(terminal, CLI_LIMITS.waitingDelayMs));
    session.exitCode = EXIT.ok;
  } finally {
    await book.close();
  }
}

function toName(text: string): string {
  if (isCallerName(text)) return text;
  throw new InvalidArgumentError("It must be a name, without control characters.");
}

const toList = (text: string): readonly string[] =>
  text
    .split(",")
    .map(one => one.trim())
    .filter(one => one !== "");

const toNames = (text: string): readonly string[] => toList(text).map(toName);

function toGrants(text: string): readonly Permission[] {
  const words = toList(text);
  const wrong = words.find(word => !PERMISSIONS.some(grant => grant === word));
  if (wrong === undefined && words.length > 0) return words as Permission[];
  throw new InvalidArgumentError(`There is ${PERMISSIONS.join(", ")}.`);
}

const toLifetime = (text: string): number | "never" => (text === "never" ? "never" : toMs(text));
