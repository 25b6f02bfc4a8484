/** Something that the user can act on: it is told in one message, without a stack. */
export class Trouble extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Trouble";
  }
}

const EXCERPT_CHARS = 200;

/** The first characters of what came back, on one line. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > EXCERPT_CHARS ? `${line.slice(0, EXCERPT_CHARS)}…` : line;
}

/** The innermost reason that has a code, as Node wraps what the network said (`fetch failed`). */
export function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string") return code;
  }
  return undefined;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
