import { agent } from "dragoman";

/** Three kinds of result in one task: text for people, data for programs, a file to download. */
export default agent({
  name: "reporter",
  description: "Counts the words of a text and reports as text, as data and as a CSV file",
  // Shown in the card; callers may choose an agent by it.
  outputModes: ["text/plain", "application/json", "text/csv"],
  skills: [
    {
      id: "count-words",
      name: "Count words",
      description: "Counts how often each word occurs",
      tags: ["text", "report"],
      examples: ["to be or not to be"],
    },
  ],

  async *run(task, ctx) {
    const counts = countWords(task.text);
    // Rejects the task before any work is done. Like ask and fail it ends the run.
    if (counts.length === 0) yield ctx.reject("There are no words to count: send some text");

    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    yield ctx.text(`${total} words, ${counts.length} different.`);

    // Each of these is a separate artifact.
    yield ctx.data({ total, words: Object.fromEntries(counts) }, { name: "word counts" });

    const rows = counts.map(([word, count]) => `${word},${count}`);
    const csv = ["word,count", ...rows, ""].join("\n");
    // Bytes travel with the task. For something large give a `url` instead.
    yield ctx.file({ name: "words.csv", mediaType: "text/csv", bytes: new TextEncoder().encode(csv) });
  },
});

/** The most frequent words first. */
function countWords(text: string): [word: string, count: number][] {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? [])
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}
