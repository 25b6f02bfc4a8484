import type { Command } from "commander";
import type { KeyRing, KeyView } from "../../keys/key-ring.ts";
import type { Json } from "../../lib/json.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount, formatTable } from "../terminal/text.ts";
import { dataOption } from "./data-option.ts";

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
  dragoman keys rotate                      new keys; a server that runs takes them up by itself
  dragoman keys reseal                      what is kept is sealed with the newest key; the server must not run
  dragoman keys remove KEY                  an old key that nothing needs any more

Sealing keys keep secrets unreadable where they are stored; signing keys sign cards and push notifications. A new key
does not make the old one useless: it still opens what it sealed, and what it signed can still be checked.`;

export function define(program: Command, session: CommandContext): void {
  const keys = program
    .command("keys")
    .description("The keys of a server: list them, make new ones, take old ones away")
    .addHelpText("after", EXAMPLES);
  keyOptions(
    keys.command("list").description("Show which keys there are, and what they are needed for"),
  ).action((flags: KeyFlags) => run(session, flags, list));
  keyOptions(
    keys.command("rotate").description("Make new keys; the old ones stay for what was made with them"),
  )
    .option("--signing", "only the key that signs")
    .option("--sealing", "only the key that seals")
    .action((flags: RotateFlags) => run(session, flags, rotate));
  keyOptions(
    keys.command("reseal").description("Seal all kept secrets with the newest key; the server must not run"),
  ).action((flags: KeyFlags) => run(session, flags, reseal));
  keyOptions(
    keys.command("remove <key>").description("Take away an old key that nothing needs any more"),
  ).action((key: string, flags: KeyFlags) => run(session, flags, work => remove(work, key)));
}

const keyOptions = (command: Command): Command =>
  dataOption(command)
    .option("--key-file <file>", "the key file (default: as `serve` would choose it)")
    .option("--json", "print JSON for programs");

/** What the commands work with. */
interface Work<F extends KeyFlags = KeyFlags> {
  readonly terminal: Terminal;
  readonly flags: F;
  readonly output: Output;
  /** undefined: what is kept is in no folder. */
  readonly folder: string | undefined;
  readonly file: string;
  readonly ring: KeyRing;
}

async function run<F extends KeyFlags>(
  session: CommandContext,
  flags: F,
  action: (work: Work<F>) => Promise<Json>,
): Promise<void> {
  const { terminal } = session;
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  const found = await find(terminal, flags);
  const told = await action({ terminal, flags, output, ...found });
  if (flags.json) output.json(told);
  session.exitCode = EXIT.ok;
}

/** The key file, as a server started here would choose it. */
async function find(
  terminal: Terminal,
  { data, keyFile }: KeyFlags,
): Promise<Pick<Work, "folder" | "file" | "ring">> {
  const { readSettings } = await import("../../config/config.ts");
  const { isFolder, keyFileOf, readKeyFile } = await import("../../keys/index.ts");
  const flags = { ...(data !== undefined && { data }), ...(keyFile !== undefined && { keyFile }) };
  const settings = await readSettings({ cwd: terminal.cwd, flags });
  const file = keyFileOf(settings);
  if (file === undefined)
    throw new ClientError(
      "The keys of this server are in no file: change them where they come from (DRAGOMAN_KEYS, keysCommand, a database), or name a file with --key-file",
    );
  const ring = readKeyFile(file);
  if (!ring) throw new ClientError(`There is no key file ${file}. A server makes one when it first starts`);
  return { folder: isFolder(settings.data) ? settings.data : undefined, file, ring };
}

async function list(work: Work): Promise<Json> {
  const { listKeys } = await import("../../keys/index.ts");
  // What keys are there is worth knowing, also where their store is not.
  const sealed = await countEncrypted(work.folder).catch(() => new Map<string, number>());
  const keys = listKeys(work.ring).map(key => ({ ...key, secrets: sealed.get(key.id) ?? 0 }));
  if (!work.flags.json) for (const line of formatTable([HEAD, ...keys.map(toRow)])) work.output.line(line);
  return keys as unknown as Json;
}

const HEAD = ["KEY", "KIND", "SINCE", "USE"];
const toRow = (key: KeyView & { readonly secrets: number }): readonly string[] => [
  key.id,
  key.kind,
  new Date(key.createdAt).toISOString().slice(0, 10),
  [key.inUse ? "in use" : "kept", ...(key.secrets > 0 ? [formatCount(key.secrets, "secret")] : [])].join(", "),
];

/** By the key that they need. */
async function countEncrypted(folder: string | undefined): Promise<ReadonlyMap<string, number>> {
  if (folder === undefined) return new Map();
  const { countEncrypted: countIn } = await import("../../store/sqlite/index.ts");
  return countIn(folder);
}

async function rotate({ flags, output, file, ring, terminal }: Work<RotateFlags>): Promise<Json> {
  const { KEY_KINDS, rotateKeys, listKeys, writeKeyFile } = await import("../../keys/index.ts");
  const wanted = KEY_KINDS.filter(kind => flags[kind]);
  const kinds = wanted.length > 0 ? wanted : KEY_KINDS;
  const next = rotateKeys(ring, kinds, terminal.now());
  writeKeyFile(file, next);
  const made = listKeys(next).filter(key => key.inUse && kinds.includes(key.kind));
  if (!flags.json) for (const { kind, id } of made) output.line(`new ${kind} key ${id}`);
  return made as unknown as Json;
}

async function reseal({ flags, output, folder, ring }: Work): Promise<Json> {
  if (folder === undefined)
    throw new ClientError("Only what is kept in a data folder can be sealed anew: name one with --data DIR");
  const { createEncryption } = await import("../../keys/index.ts");
  const { reEncryptStore } = await import("../../store/sqlite/index.ts");
  const told = reEncryptStore(
    folder,
    createEncryption(() => ring),
  );
  if (!flags.json) output.line(`${formatCount(told.reEncrypted, "secret")} sealed with the newest key`);
  if (told.unreadable > 0)
    output.alert(
      `${formatCount(told.unreadable, "secret")} cannot be opened with any key that is here; they stay as they are`,
    );
  return { ...told };
}

async function remove({ flags, output, folder, file, ring }: Work, id: string): Promise<Json> {
  const { listKeys, withoutKey, writeKeyFile } = await import("../../keys/index.ts");
  const key = listKeys(ring).find(one => one.id === id);
  if (!key) throw new ClientError(`There is no key ${id} in ${file}`);
  if (key.inUse)
    throw new ClientError(`The key ${id} is in use; make another first: dragoman keys rotate --${key.kind}`);
  const secrets = (await countEncrypted(folder)).get(id) ?? 0;
  if (secrets > 0)
    throw new ClientError(
      `${formatCount(secrets, "secret")} can only be opened with the key ${id}; run dragoman keys reseal first`,
    );
  writeKeyFile(file, withoutKey(ring, id));
  if (!flags.json) output.line(`${key.kind} key ${id} removed`);
  return { removed: id };
}
