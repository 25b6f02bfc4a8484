import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultTable, Route } from "../../src/ports/index.ts";
import { type ExchangeFile, expandJson, formatExchangeFile, parseExchangeFile } from "../support/corpus.ts";
import { runExchanges } from "../support/corpus-client.ts";
import { startCorpusServer } from "../support/corpus-server.ts";

/** The format is at the head of test/support/corpus.ts. */
const ROOT = import.meta.dirname;
const UPDATE = process.env.UPDATE_CORPUS === "1";

interface CorpusFile {
  readonly path: string;
  readonly dialect: string;
  readonly text: string;
  readonly parsed: ExchangeFile;
}

const files: readonly CorpusFile[] = globSync("*/*.exchange", { cwd: ROOT })
  .sort()
  .map(name => {
    const path = join(ROOT, name);
    const text = readFileSync(path, "utf8");
    return { path, dialect: basename(dirname(path)), text, parsed: parseExchangeFile(text) };
  });

for (const dialect of new Set(files.map(file => file.dialect)))
  describe(dialect, () => {
    for (const file of files.filter(one => one.dialect === dialect))
      it(file.parsed.sentence, () => check(file));
  });

async function check({ path, text, parsed }: CorpusFile): Promise<void> {
  const actual = formatExchangeFile(parsed, await runExchanges(parsed));
  if (UPDATE) return writeFileSync(path, actual);
  // Differences are easier to see in indented JSON; the comparison of bytes is the one that counts.
  expect(expandJson(actual)).toBe(expandJson(text));
  expect(actual).toBe(text);
}

/** A dialect without JSON-RPC has statuses instead of numbers; one of documents alone can have but few of them. */
const statusesOf = (routes: readonly Route[], faults: FaultTable): readonly number[] =>
  routes.some(({ transport }) => transport === "rest") ? Object.values(faults).map(fault => fault.http) : [];

const toMark = (number: number, isRpc: boolean): string =>
  isRpc ? `"error":{"code":${number},` : `\n---\n${number}\n`;

describe("the corpus", () => {
  it("names each exchange with one sentence, and cites a source", () => {
    const sentences = files.map(({ dialect, parsed }) => `${dialect}: ${parsed.sentence}`);
    expect(sentences.filter((one, i) => sentences.indexOf(one) !== i)).toEqual([]);
    expect(sentences.filter(one => !one.endsWith("."))).toEqual([]);
    const bare = files.filter(({ parsed }) => !/docs\/dialects\/\w+\.md|§/.test(parsed.sources));
    expect(bare.map(file => file.path)).toEqual([]);
  });

  it("has a folder for each dialect, and every error number of the dialect in it", async () => {
    const server = await startCorpusServer({ settings: { v11: "on" }, agents: undefined });
    await server.close();
    const missing = server.dialects.flatMap(({ name, faults, routes }) => {
      const responses = files.filter(file => file.dialect === name).map(file => file.text);
      const isRpc = routes.some(({ transport }) => transport === "jsonrpc");
      const numbers = isRpc ? Object.values(faults).map(fault => fault.rpc) : statusesOf(routes, faults);
      return [...new Set(numbers)]
        .filter(number => !responses.some(text => text.includes(toMark(number, isRpc))))
        .map(number => `${name} ${number}`);
    });
    expect(missing).toEqual([]);
    const known = new Set(server.dialects.map(dialect => dialect.name));
    expect(files.filter(file => !known.has(file.dialect)).map(file => file.path)).toEqual([]);
  });
});
