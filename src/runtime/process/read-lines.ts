/** Lines of a stream, one after another; chunks may end anywhere. A line that is too long is an error. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let restBytes = 0;
  for await (const chunk of chunks) {
    // Only what is new is looked at: a long line may come in many chunks.
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    const last = lines.pop() as string;
    for (const line of lines) {
      yield withoutReturn(check(rest + line, bytesMax));
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

function check(line: string, bytesMax: number): string {
  // A character is at least a byte: most lines need not be measured.
  if (line.length * 3 <= bytesMax || Buffer.byteLength(line) <= bytesMax) return line;
  throw tooLong(bytesMax);
}

const tooLong = (bytesMax: number): Error =>
  new Error(`it said a line of more than ${bytesMax} bytes; send it in several pieces, or as a url`);
