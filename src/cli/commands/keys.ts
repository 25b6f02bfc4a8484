import type { Command } from "commander";
import type { KeyRing, KeyView } from "../../keys/key-ring.ts";
import type { Json } from "../../lib/json.ts";
import type { StoreAdmin } from "../../ports/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount, formatTable } from "../terminal/text.ts";
import { dataFolderOption, openStoreAt, readDataSettings } from "./data-option.ts";

interface KeyFlags {
  readonly data?: string;
  readonly keyFile?: string;
  readonly json?: boolean;
}
interface RotateFlags extends KeyFlags {
  readonly signing?: boolean;
  readonly sealing?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman keys list
  dragoman keys rotate                      create new keys; a running server loads them by itself
  dragoman keys reseal                      encrypt stored secrets with the newest key; the server must be stopped
  dragoman keys remove KEY                  delete an old key that is no longer needed

Sealing keys encrypt stored secrets; signing keys sign agent cards and push notifications. Old keys stay valid: secrets
that they encrypted can be decrypted, and their signatures can be verified.`;

export function define(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description(SUMMARIES.keys).addHelpText("after", EXAMPLES);
  keyOptions(keys.command("list").description("List the keys and their use")).action((flags: KeyFlags) =>
    runAction(context, flags, list),
  );
  keyOptions(keys.command("rotate").description("Create new keys; the old ones stay valid"))
    .option("--signing", "only a signing key")
    .option("--sealing", "only a sealing key, which encrypts")
    .action((flags: RotateFlags) => runAction(context, flags, rotate));
  keyOptions(
    keys
      .command("reseal")
      .description("Encrypt all stored secrets with the newest key; the server must be stopped"),
  ).action((flags: KeyFlags) => runAction(context, flags, reEncrypt));
  keyOptions(keys.command("remove <key>").description("Delete an old key that is no longer needed")).action(
    (id: string, flags: KeyFlags) => runAction(context, flags, input => remove(input, id)),
  );
}

const keyOptions = (command: Command): Command =>
  dataFolderOption(command)
    .option("--key-file <file>", "key file (default: that of `serve`)")
    .option("--json", "print JSON");

interface KeyAction<F extends KeyFlags = KeyFlags> {
  readonly terminal: Terminal;
  readonly flags: F;
  readonly output: Output;
  readonly openStore: () => Promise<StoreAdmin>;
  /** By key id; undefined: unknown. */
  readonly countSecrets: () => Promise<ReadonlyMap<string, number> | undefined>;
  readonly file: string;
  readonly ring: KeyRing;
}

async function runAction<F extends KeyFlags>(
  context: CommandContext,
  flags: F,
  action: (input: KeyAction<F>) => Promise<Json>,
): Promise<void> {
  const { terminal } = context;
  const { keyFileOf, readKeyFile } = await import("../../keys/index.ts");
  const settings = await readDataSettings(terminal, flags);
  const file = keyFileOf(settings);
  if (file === undefined)
    throw new ClientError(
      "The keys of this server are not in a file: change them in their source (DRAGOMAN_KEYS, keysCommand, a database), " +
        "or name a file with --key-file",
    );
  const ring = readKeyFile(file);
  if (!ring)
    throw new ClientError(`The key file ${file} does not exist. A server creates it at its first start`);
  const output = createOutput(terminal);
  const openStore = (): Promise<StoreAdmin> => openStoreAt(terminal, settings.data);
  const countSecrets = async () =>
    settings.data === ":memory:" ? undefined : (await openStore()).countEncrypted();
  const result = await action({ terminal, flags, output, openStore, countSecrets, file, ring });
  if (flags.json) output.json(result);
  context.exitCode = EXIT.ok;
}

async function list({ flags, output, countSecrets, ring }: KeyAction): Promise<Json> {
  const { listKeys } = await import("../../keys/index.ts");
  // Keys are listed even if their store does not exist.
  const counts = await countSecrets().catch(() => undefined);
  const keys = listKeys(ring).map(key => ({ ...key, secrets: counts?.get(key.id) ?? 0 }));
  if (!flags.json) for (const line of formatTable([HEADING, ...keys.map(toRow)])) output.line(line);
  return keys as unknown as Json;
}

const HEADING = ["KEY", "KIND", "SINCE", "USE"];
const toRow = (key: KeyView & { readonly secrets: number }): readonly string[] => [
  key.id,
  key.kind,
  new Date(key.createdAt).toISOString().slice(0, 10),
  [key.inUse ? "in use" : "old", ...(key.secrets > 0 ? [formatCount(key.secrets, "secret")] : [])].join(", "),
];

async function rotate({ flags, output, file, ring, terminal }: KeyAction<RotateFlags>): Promise<Json> {
  const { KEY_KINDS, rotateKeys, listKeys, writeKeyFile } = await import("../../keys/index.ts");
  const requested = KEY_KINDS.filter(kind => flags[kind]);
  const kinds = requested.length > 0 ? requested : KEY_KINDS;
  const next = rotateKeys(ring, kinds, terminal.now());
  writeKeyFile(file, next);
  const created = listKeys(next).filter(key => key.inUse && kinds.includes(key.kind));
  if (!flags.json) for (const { kind, id } of created) output.line(`new ${kind} key ${id}`);
  return created as unknown as Json;
}

async function reEncrypt({ flags, output, openStore, ring }: KeyAction): Promise<Json> {
  const { createEncryption } = await import("../../keys/index.ts");
  const store = await openStore();
  const result = await store.reEncrypt(createEncryption(() => ring));
  if (!flags.json) output.line(`${formatCount(result.reEncrypted, "secret")} encrypted with the newest key`);
  if (result.unreadable > 0)
    output.alert(
      `${formatCount(result.unreadable, "secret")} cannot be decrypted: the key is missing; left unchanged`,
    );
  return { ...result };
}

async function remove({ flags, output, countSecrets, file, ring }: KeyAction, id: string): Promise<Json> {
  const { listKeys, withoutKey, writeKeyFile } = await import("../../keys/index.ts");
  const key = listKeys(ring).find(one => one.id === id);
  if (!key) throw new ClientError(`Key ${id} not found in ${file}`);
  if (key.inUse)
    throw new ClientError(
      `The key ${id} is in use. Create a new key first: npx dragoman keys rotate --${key.kind}`,
    );
  const secrets = (await countSecrets())?.get(id) ?? 0;
  if (secrets > 0)
    throw new ClientError(
      `${formatCount(secrets, "secret")} can only be decrypted with the key ${id}; run dragoman keys reseal first`,
    );
  writeKeyFile(file, withoutKey(ring, id));
  if (!flags.json) output.line(`${key.kind} key ${id} removed`);
  return { removed: id };
}
