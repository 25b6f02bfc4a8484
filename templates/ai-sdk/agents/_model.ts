import { MockLanguageModelV4 } from "ai/test";

type Result = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>;
type Part = Result["stream"] extends ReadableStream<infer P> ? P : never;

/** A mock model: it calls a tool for each city in the message, and then repeats the results. */
export const mockModel = new MockLanguageModelV4({
  doStream: async ({ prompt }) => {
    const at = prompt.findLastIndex(message => message.role === "user");
    const cities = JSON.stringify(prompt[at]?.content).match(/Oslo|Rome|Lima/g) ?? [];
    const given = prompt.slice(at + 1).filter(message => message.role === "tool");
    const results = given.flatMap(message => message.content.filter(part => part.type === "tool-result"));
    const isBooking = JSON.stringify(prompt[at]).includes("Book");
    return { stream: ReadableStream.from(toStream(cities, results, isBooking ? "book" : "weather")) };
  },
});

function* toStream(
  cities: readonly string[],
  results: readonly unknown[],
  toolName: string,
): Generator<Part> {
  const isFirst = results.length === 0 && cities.length > 0;
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  yield { type: "text-delta", id: "1", delta: isFirst ? "One moment." : summary(results) };
  yield { type: "text-end", id: "1" };
  if (isFirst)
    for (const [i, city] of cities.entries())
      yield { type: "tool-call", toolCallId: `call-${i}`, toolName, input: JSON.stringify({ city }) };
  yield {
    type: "finish",
    finishReason: { unified: isFirst ? "tool-calls" : "stop", raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: undefined, reasoning: undefined },
    },
  };
}

function summary(results: readonly unknown[]): string {
  const outputs = results.map(one => (one as { output: { value?: unknown; type: string } }).output);
  const words = outputs.map(({ value, type }) => (value === undefined ? type : String(value)));
  return words.length === 0 ? "Which city?" : words.join(" ");
}
