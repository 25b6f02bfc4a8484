import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type FetchedCard, fetchCard } from "../../client/card.ts";
import { readText, sendRequest } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { FindKey, SignatureHeader, SignatureVerdict } from "../../signature/verify.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { codeOf, messageOf } from "../terminal/errors.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import { toAccess } from "../terminal/target.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { type Remote, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface VerifyFlags extends RemoteFlags {
  readonly keys?: string;
}

const EXAMPLES = `
Examples:
  dragoman card verify https://agents.example
  dragoman card verify https://agents.example --keys trusted-keys.json --json

Without --keys, only keys from the host of the card are used: a valid signature shows that the card is as this host
made it. With --keys, a valid signature shows that the owner of a trusted key made it. One valid signature is enough.
The exit code is 0 if there is a valid signature, otherwise 1.`;

export function defineVerify(card: Command, context: CommandContext): void {
  card.enablePositionalOptions();
  const command = card.command("verify [url]").description("Verify the signatures of a card");
  remoteOptions(command)
    .option("--keys <place>", "trusted keys: a JSON Web Key Set, as a file or a URL")
    .addHelpText("after", EXAMPLES)
    .action(async (url: string | undefined, flags: VerifyFlags) => {
      context.exitCode = await verify(context.terminal, toRemote(context.terminal, url, flags), flags.keys);
    });
}

async function verify(terminal: Terminal, remote: Remote, keySet: string | undefined): Promise<number> {
  const { verifyCard } = await import("../../signature/verify.ts");
  return runInterruptible(terminal, async ({ output, signal }) => {
    output.startWaiting(`waiting for the card of ${remote.target.base}`);
    const fetched = await fetchCard(remote.target, toAccess(terminal, remote), signal);
    const verdicts = await verifyCard(fetched.card, createKeyFinder(terminal, fetched, keySet, signal));
    const valid = verdicts.some(verdict => verdict.valid);
    const { url } = fetched;
    if (remote.json) output.json({ card: url, valid, signatures: verdicts as unknown as Json });
    else if (verdicts.length === 0) output.line(`not signed: ${url}`);
    else {
      output.line(`${valid ? "valid" : "not valid"}: ${url}`);
      for (const verdict of verdicts) output.line(`  ${describe(verdict)}`);
    }
    return valid ? EXIT.ok : EXIT.error;
  });
}

function describe(verdict: SignatureVerdict): string {
  const key = oneLine(`key ${verdict.kid ?? "without id"} (${verdict.alg ?? "no algorithm"})`);
  if (!verdict.valid) return `${key}: ${oneLine(verdict.reason)}`;
  return verdict.covers === "document" ? `${key}: valid` : `${key}: valid, but covers only ${verdict.covers}`;
}

/** Finds keys in the given key set, or in that of the card's host. */
function createKeyFinder(
  terminal: Terminal,
  card: FetchedCard,
  keySet: string | undefined,
  signal: AbortSignal,
): FindKey {
  const loaded = new Map<string, Promise<readonly JsonObject[]>>();
  return async header => {
    const source = keySet ?? toHostKeySet(card, header);
    const keys = loaded.get(source) ?? loadKeySet(terminal, source, signal);
    loaded.set(source, keys);
    return findKey(await keys, header, source);
  };
}

/** An attacker who changes a card can also change the URL of its keys: only the host of the card is accepted. */
function toHostKeySet({ url }: FetchedCard, { jku }: SignatureHeader): string {
  const { origin } = new URL(url);
  const source = jku ?? `${origin}/.well-known/jwks.json`;
  if (URL.parse(source)?.origin === origin) return source;
  throw new Error(`its keys are at ${source}, another host than the card's: use --keys if you trust it`);
}

async function loadKeySet(
  terminal: Terminal,
  source: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const text = /^https?:/.test(source)
    ? await fetchKeySet(terminal, source, signal)
    : await readKeySet(resolve(terminal.cwd, source));
  const keys = asList(asObject(parse(text)).keys).map(asObject);
  if (keys.length === 0) throw new Error(`${source} is not a JSON Web Key Set`);
  return keys;
}

async function fetchKeySet(terminal: Terminal, url: string, signal: AbortSignal): Promise<string> {
  // Keys are public: credentials are not sent.
  const access = toAccess(terminal, { headers: {} });
  const response = await sendRequest(
    access,
    { method: "GET", url, headers: { accept: "application/json" } },
    signal,
  );
  if (!response.ok) throw new Error(`${url} cannot be read: HTTP ${response.status}`);
  return readText(url, response);
}

async function readKeySet(file: string): Promise<string> {
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

function findKey(keys: readonly JsonObject[], { kid }: SignatureHeader, source: string): JsonObject {
  const found = kid === undefined && keys.length === 1 ? keys[0] : keys.find(key => asText(key.kid) === kid);
  if (found) return found;
  throw new Error(
    kid === undefined
      ? `${source} has several keys, and the signature names none`
      : `${source} has no key ${kid}`,
  );
}
