/** Splits a stream into lines; chunks may end anywhere. Throws if a line is longer than `bytesMax`. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let restBytes = 0;
  for await (const chunk of chunks) {
    // Only the new chunk is scanned: a long line may arrive in many chunks.
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    const last = lines.pop() as string;
    for (const line of lines) {
      yield withoutReturn(checkLength(rest + line, bytesMax));
      rest = "";
      restBytes = 0;
    }
    rest += last;
    restBytes += Buffer.byteLength(last);
    if (restBytes > bytesMax) throw tooLong(bytesMax);
  }
  if (rest !== "") yield withoutReturn(rest);
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

function checkLength(line: string, bytesMax: number): string {
  // A UTF-16 unit is at most three bytes: most lines need not be measured.
  if (line.length * 3 <= bytesMax || Buffer.byteLength(line) <= bytesMax) return line;
  throw tooLong(bytesMax);
}

const tooLong = (bytesMax: number): Error =>
  new Error(`longer than ${bytesMax} bytes; send it in several parts, or as a url`);
