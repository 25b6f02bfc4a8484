/** The requests to the bench agent and its output: shared, so that every contender does the same work. */
export type Request =
  | { kind: "echo"; text: string }
  | { kind: "stream"; chunks: number }
  | { kind: "idle" }
  /** Only Dragoman is asked for this. */
  | { kind: "pace"; count: number; pauseMs: number; beginMs: number };

/** The maximum of chunks in one stream: enough for the longest scenario. */
const CHUNKS_MAX = 20_000;
/** The load generator counts these in the received bytes: one in each chunk, none anywhere else. */
export const CHUNK_MARK = "chunk#";

const FILLER = "the quick brown fox jumps over the lazy dog while the band plays on and ".repeat(3);
const CHUNK_CHARS = 200;

export function readRequest(text: string): Request {
  if (text === "idle") return { kind: "idle" };
  const pace = /^pace (\d+) ([\d.]+) ([\d.]+)$/.exec(text)?.slice(1).map(Number);
  if (pace) return { kind: "pace", count: pace[0] ?? 0, pauseMs: pace[1] ?? 0, beginMs: pace[2] ?? 0 };
  const stream = /^stream (\d+)$/.exec(text);
  if (stream === null) return { kind: "echo", text };
  return { kind: "stream", chunks: Math.min(Number(stream[1]), CHUNKS_MAX) };
}

export function chunkText(index: number): string {
  return `${CHUNK_MARK}${index} ${FILLER}`.slice(0, CHUNK_CHARS);
}
