import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readStory, type Story, spread, writeStory } from "../support/corpus.ts";
import { play } from "../support/corpus-client.ts";
import { openHouse } from "../support/corpus-server.ts";

/** See the head of test/support/corpus.ts for the format. */
const ROOT = import.meta.dirname;
const UPDATE = process.env.UPDATE_CORPUS === "1";

interface File {
  readonly path: string;
  readonly dialect: string;
  readonly text: string;
  readonly story: Story;
}

const files: readonly File[] = globSync("*/*.exchange", { cwd: ROOT })
  .sort()
  .map(name => {
    const path = join(ROOT, name);
    const text = readFileSync(path, "utf8");
    return { path, dialect: basename(dirname(path)), text, story: readStory(text) };
  });

for (const dialect of new Set(files.map(file => file.dialect)))
  describe(dialect, () => {
    for (const file of files.filter(one => one.dialect === dialect))
      it(file.story.sentence, () => check(file));
  });

async function check({ path, text, story }: File): Promise<void> {
  const played = writeStory(story, await play(story));
  if (UPDATE) return writeFileSync(path, played);
  // What differs is easier to see in JSON over several lines; but what counts are the bytes.
  expect(spread(played)).toBe(spread(text));
  expect(played).toBe(text);
}

describe("the corpus", () => {
  it("says in one sentence what each exchange shows, and where it comes from", () => {
    const sentences = files.map(({ dialect, story }) => `${dialect}: ${story.sentence}`);
    expect(sentences.filter((one, i) => sentences.indexOf(one) !== i)).toEqual([]);
    expect(sentences.filter(one => !one.endsWith("."))).toEqual([]);
    const bare = files.filter(({ story }) => !/wire notes|§|seed/.test(story.sources));
    expect(bare.map(file => file.path)).toEqual([]);
  });

  it("has a folder for each dialect, and each fault of a dialect in it", async () => {
    const house = await openHouse({ settings: {}, cast: undefined });
    await house.close();
    const missing = house.dialects.flatMap(({ name, faults }) => {
      const replies = files.filter(file => file.dialect === name).map(file => file.text);
      const numbers = new Set(Object.values(faults).map(fault => fault.rpc));
      return [...numbers]
        .filter(number => !replies.some(text => text.includes(`"error":{"code":${number},`)))
        .map(number => `${name} ${number}`);
    });
    expect(missing).toEqual([]);
    const known = new Set(house.dialects.map(dialect => dialect.name));
    expect(files.filter(file => !known.has(file.dialect)).map(file => file.path)).toEqual([]);
  });
});
