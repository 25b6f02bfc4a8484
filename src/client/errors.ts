/** Something went wrong with a call, in words for whoever made it: it is told in one message, without a stack. */
export class Trouble extends Error {
  /** What it looks like, where those who ask may know a cure. */
  readonly symptom: Symptom | undefined;
  constructor(message: string, cause?: unknown, symptom?: Symptom) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Trouble";
    this.symptom = symptom;
  }
}

export type Symptom =
  | "inside"
  | "refused"
  | "unknown-host"
  | "silent"
  | "no-http"
  | "unauthenticated"
  | "forbidden"
  | "missing"
  | "large"
  | "many";

/** Why an agent refused a call, as far as callers act on it. */
export type RefusalKind = "task-not-found" | "unsupported" | "unauthenticated" | "other";

/** The agent understood the call and refused it. */
export class Refusal extends Trouble {
  readonly kind: RefusalKind;
  /** Its own words, for those who may hear them. */
  readonly said: string;
  constructor(kind: RefusalKind, message: string, said = "") {
    super(message, undefined, kind === "unauthenticated" ? kind : undefined);
    this.name = "Refusal";
    this.kind = kind;
    this.said = said;
  }
}

/** The other side was not reached, or the connection broke: trying again may help. */
export class Lost extends Trouble {
  /** In a few words, for those who try again. */
  readonly reason: string;
  /** When the other side wants to be asked again. */
  readonly retryAfterMs: number | undefined;
  constructor(message: string, reason: string, more: LostFacts = {}) {
    super(message, more.cause, more.symptom);
    this.name = "Lost";
    this.reason = reason;
    this.retryAfterMs = more.retryAfterMs;
  }
}
interface LostFacts {
  readonly cause?: unknown;
  readonly symptom?: Symptom | undefined;
  readonly retryAfterMs?: number | undefined;
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
