import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type FetchedCard, fetchCard } from "../../client/card.ts";
import { readText, sendRequest } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { FindKey, SignatureHeader, SignatureVerdict } from "../../signature/verify.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { codeOf, messageOf } from "../terminal/errors.ts";
import { createInterrupt } from "../terminal/interrupt.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { toAccess } from "../terminal/session.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { type Remote, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface VerifyFlags extends RemoteFlags {
  readonly keys?: string;
}

const EXAMPLES = `
Examples:
  dragoman card verify https://agents.example
  dragoman card verify https://agents.example --keys trusted-keys.json --json

Without --keys, keys are taken from the host of the card and from nowhere else: that tells whether the card came to you
as this host made it. With --keys, whether it was made by somebody whom you trust. One good signature is enough.
The exit code is 0 if there is one, and 1 if there is none.`;

export function defineVerify(card: Command, session: CommandContext): void {
  card.enablePositionalOptions();
  const command = card.command("verify <url>").description("Check the signatures of a card");
  remoteOptions(command)
    .option("--keys <place>", "the keys that are trusted: a JSON Web Key Set, as a file or a URL")
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: VerifyFlags) => {
      session.exitCode = await verify(session.terminal, toRemote(url, flags), flags.keys);
    });
}

async function verify(terminal: Terminal, remote: Remote, place: string | undefined): Promise<number> {
  const { verifyCard } = await import("../../signature/verify.ts");
  const interrupt = createInterrupt(terminal, undefined);
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  try {
    output.startWaiting(`waiting for the card of ${remote.target.base}`);
    const found = await fetchCard(remote.target, toAccess(terminal, remote), interrupt.signal);
    const read = createReader(terminal, interrupt.signal);
    const findKey = place === undefined ? keysOfHost(found, read) : keysAt(place, read);
    const verdicts = await verifyCard(found.card, findKey);
    const valid = verdicts.some(one => one.valid);
    if (remote.json) output.json({ card: found.url, valid, signatures: verdicts as unknown as Json });
    else print(output, found, verdicts, valid);
    return valid ? EXIT.ok : EXIT.error;
  } catch (error) {
    if (interrupt.reason === undefined) throw error;
    return EXIT.interrupted;
  } finally {
    output.stopWaiting();
    interrupt.close();
  }
}

function print(
  output: Output,
  { url }: FetchedCard,
  verdicts: readonly SignatureVerdict[],
  valid: boolean,
): void {
  if (verdicts.length === 0) return output.line(`not signed: ${url}`);
  output.line(`${valid ? "valid" : "not valid"}: ${url}`);
  for (const one of verdicts) output.line(`  ${describe(one)}`);
}

function describe(one: SignatureVerdict): string {
  const key = oneLine(`key ${one.kid ?? "without a name"} (${one.alg ?? "no algorithm"})`);
  if (!one.valid) return `${key}: ${oneLine(one.reason)}`;
  return one.covers === "document" ? `${key}: good` : `${key}: good, but it covers only ${one.covers}`;
}

/** Reads a key set from a URL, or from a file. */
type Reader = (place: string) => Promise<readonly JsonObject[]>;

function createReader(terminal: Terminal, signal: AbortSignal): Reader {
  const known = new Map<string, Promise<readonly JsonObject[]>>();
  async function load(place: string): Promise<readonly JsonObject[]> {
    const text = await textAt(place);
    const keys = asList(asObject(parse(text)).keys).map(asObject);
    if (keys.length === 0) throw new Error(`${place} is no JSON Web Key Set`);
    return keys;
  }
  async function textAt(place: string): Promise<string> {
    if (!/^https?:/.test(place)) return readKeys(resolve(terminal.cwd, place));
    // Keys are for everybody: whoever asks need not say who he is, and credentials stay at home.
    const access = toAccess(terminal, { headers: {} });
    const asked = { method: "GET", url: place, headers: { accept: "application/json" } } as const;
    const response = await sendRequest(access, asked, signal);
    if (!response.ok) throw new Error(`${place} has no keys (HTTP ${response.status})`);
    return readText(place, response);
  }
  return place => {
    const found = known.get(place) ?? load(place);
    known.set(place, found);
    return found;
  };
}

async function readKeys(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`${file} cannot be read: ${codeOf(error) ?? messageOf(error)}`);
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

const keysAt =
  (place: string, read: Reader): FindKey =>
  async head =>
    choose(await read(place), head, place);

/** Whoever changes a card can name a place of his own, too: only the host of the card is asked. */
const keysOfHost =
  ({ url }: FetchedCard, read: Reader): FindKey =>
  async head => {
    const { origin } = new URL(url);
    const place = head.jku ?? `${origin}/.well-known/jwks.json`;
    if (URL.parse(place)?.origin !== origin)
      throw new Error(
        `its keys are at ${place}, another host than the card's: name them with --keys if you trust it`,
      );
    return choose(await read(place), head, place);
  };

function choose(keys: readonly JsonObject[], { kid }: SignatureHeader, place: string): JsonObject {
  const found = kid === undefined && keys.length === 1 ? keys[0] : keys.find(key => asText(key.kid) === kid);
  if (found) return found;
  throw new Error(`${place} has no key ${kid ?? "that is named"}`);
}
