import { type Command, InvalidArgumentError } from "commander";
import {
  DEFAULT_PERMISSIONS,
  DEFAULT_TENANT,
  isCallerName,
  PERMISSIONS,
  type Permission,
} from "../../model/index.ts";
import type { AccessToken, TokenStore } from "../../ports/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { formatAge, formatTable } from "../terminal/text.ts";
import { toMs } from "./arguments.ts";
import { dataOption, openStore } from "./data-option.ts";

interface TokenFlags {
  readonly data?: string;
  readonly json?: boolean;
}
interface CreateFlags extends TokenFlags {
  readonly principal: string;
  readonly tenant?: readonly string[];
  readonly agents?: readonly string[];
  readonly scopes?: readonly Permission[];
  readonly expires?: number | "never";
  readonly name?: string;
}
interface ListFlags extends TokenFlags {
  readonly all?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman token create --principal alice                    for 90 days, with the default scopes
  dragoman token create --principal ci --tenant acme --agents echo --scopes send,read --expires 30d --name "nightly run"
  dragoman token list
  dragoman token revoke 1f2e3d4c5b6a

The server may be running and notices changes at once. It requires tokens with --auth tokens.`;

export function define(program: Command, context: CommandContext): void {
  const token = program.command("token").description(SUMMARIES.token).addHelpText("after", EXAMPLES);
  dataOption(token.command("create").description("Create a token; it is shown once"))
    .requiredOption(
      "--principal <name>",
      "caller that the token identifies; callers see only their own tasks",
      toName,
    )
    .option(
      "--tenant <names>",
      "tenant of the caller; several separated by commas (default: default)",
      toNames,
    )
    .option("--agents <names>", "the only agents that it can call, separated by commas", toList)
    .option(
      "--scopes <names>",
      `permissions: any of ${PERMISSIONS.join(", ")}, separated by commas (default: ${DEFAULT_PERMISSIONS.join(", ")})`,
      toPermissions,
    )
    .option("--expires <age>", "lifetime: 90d, 12h, 30min, 60s, or never (default: 90d)", toLifetime)
    .option("--name <text>", "description for `token list`")
    .option("--json", "print JSON")
    .action((flags: CreateFlags) => withTokens(context, flags, create));
  dataOption(token.command("list").description("List tokens, the newest first"))
    .option("--all", "include expired and revoked tokens")
    .option("--json", "print JSON")
    .action((flags: ListFlags) => withTokens(context, flags, list));
  dataOption(token.command("revoke <id>").description("Revoke a token at once; its open streams end"))
    .option("--json", "print JSON")
    .action((id: string, flags: TokenFlags) => withTokens(context, flags, input => revoke(input, id)));
}

interface TokenAction<F extends TokenFlags = TokenFlags> {
  readonly terminal: Terminal;
  readonly tokens: TokenStore;
  readonly output: Output;
  readonly flags: F;
}

async function withTokens<F extends TokenFlags>(
  context: CommandContext,
  flags: F,
  action: (input: TokenAction<F>) => Promise<void>,
): Promise<void> {
  const { terminal } = context;
  const tokens = await (await openStore(terminal, flags)).openTokens();
  try {
    await action({ terminal, tokens, output: createOutput(terminal), flags });
    context.exitCode = EXIT.ok;
  } finally {
    await tokens.close();
  }
}

const LIFETIME_MS = 90 * 86_400_000;

async function create({ terminal, tokens, output, flags }: TokenAction<CreateFlags>): Promise<void> {
  const { issueToken, toTokenJson } = await import("../../auth/issue-token.ts");
  const { now, randomHex } = terminal;
  const { principal, agents, name, expires = LIFETIME_MS } = flags;
  const { tenant: tenants = [DEFAULT_TENANT], scopes: grants = DEFAULT_PERMISSIONS } = flags;
  const expiresAt = expires === "never" ? undefined : now() + expires;
  const { secret, token } = await issueToken(
    { tokens, wallTime: now, randomHex },
    { principal, tenants, grants, agents, name, expiresAt },
  );
  if (flags.json) return output.json({ token: secret, ...toTokenJson(token) });
  output.line(secret);
  const expiry =
    expiresAt === undefined ? "does not expire" : `expires at ${new Date(expiresAt).toISOString()}`;
  output.note(`token ${token.id} of ${oneLine(principal)} ${expiry}; it is not shown again`);
}

async function list({ terminal, tokens, output, flags }: TokenAction<ListFlags>): Promise<void> {
  const { toTokenJson } = await import("../../auth/issue-token.ts");
  const now = terminal.now();
  const found = (await tokens.list()).filter(token => flags.all || stateOf(token, now) === "active");
  if (flags.json) {
    for (const token of found) output.json(toTokenJson(token));
    return;
  }
  if (found.length === 0) return output.note("no tokens");
  const rows = [HEADING, ...found.map(token => toRow(token, now))];
  for (const line of formatTable(rows, terminal.out.tty ? terminal.out.columns : undefined))
    output.line(line);
}

const HEADING = ["ID", "PRINCIPAL", "TENANT", "SCOPES", "AGENTS", "EXPIRES", "USED", "NAME"];

function toRow(token: AccessToken, now: number): readonly string[] {
  const { id, principal, tenants, grants, agents, name = "", expiresAt, usedAt } = token;
  const state = stateOf(token, now);
  const expiry = expiresAt === undefined ? "never" : new Date(expiresAt).toISOString().slice(0, 10);
  return [
    id,
    oneLine(principal),
    oneLine(tenants.join(",")),
    grants.join(","),
    agents?.join(",") ?? "all",
    state === "active" ? expiry : state,
    usedAt === undefined ? "never" : formatAge(new Date(usedAt).toISOString(), now),
    oneLine(name),
  ];
}

function stateOf({ revokedAt, expiresAt }: AccessToken, now: number): "active" | "revoked" | "expired" {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "active";
}

/** By the id of the token, or by the token itself. */
async function revoke({ terminal, tokens, output, flags }: TokenAction, id: string): Promise<void> {
  const { isWellFormed, toHash } = await import("../../auth/token.ts");
  const { toTokenJson } = await import("../../auth/issue-token.ts");
  const token = await tokens.revoke(isWellFormed(id) ? toHash(id) : id, terminal.now());
  if (!token) throw new ClientError("Token not found; list all tokens with: npx dragoman token list --all");
  if (flags.json) return output.json(toTokenJson(token));
  output.line(`token ${token.id} of ${oneLine(token.principal)} is revoked`);
}

function toName(text: string): string {
  if (isCallerName(text)) return text;
  throw new InvalidArgumentError("It must be a name, without control characters.");
}

const toList = (text: string): readonly string[] =>
  text
    .split(",")
    .map(name => name.trim())
    .filter(name => name !== "");

const toNames = (text: string): readonly string[] => toList(text).map(toName);

function toPermissions(text: string): readonly Permission[] {
  const names = toList(text);
  if (names.length > 0 && names.every(name => PERMISSIONS.some(known => known === name)))
    return names as Permission[];
  throw new InvalidArgumentError(`Scopes are ${PERMISSIONS.join(", ")}.`);
}

const toLifetime = (text: string): number | "never" => (text === "never" ? "never" : toMs(text));
