import { type Step, type TaskEvent, toWords, wordsIn, wordsOf } from "./model/index.ts";
import type { Dialect, Frame, SaidStep } from "./ports.ts";

/** What a dialect made of a step is kept with the step, so that many readers cost one encoding. */
interface Memo {
  readonly by: Dialect;
  readonly form: string | undefined;
  readonly ends: boolean;
  readonly frame: Frame | null;
  readonly more: Memo | undefined;
}

/** The JSON of a step that adds words to an artifact, around the words. */
interface Mould {
  readonly artifactId: string;
  readonly head: string;
  readonly tail: string;
  readonly event: string | undefined;
}

/** Steps to frames, for one reader of one task; `form`: of those that the dialect has, the one that the reader speaks. */
export function createFrameWriter(
  dialect: Dialect,
  form: string | undefined,
): (steps: readonly Step[], closing: boolean) => readonly Frame[] {
  let mould: Mould | null = null;
  let bare = false;

  const say = (step: Step, ends: boolean): SaidStep | null => dialect.encodeStep(step, ends, form);
  const isOurs = (memo: Memo): boolean => memo.by === dialect && memo.form === form;

  function frameOf(step: Step, ends: boolean): Frame | null {
    const known = step.memo as Memo | undefined;
    for (let memo = known; memo; memo = memo.more) if (isOurs(memo) && memo.ends === ends) return memo.frame;
    const words = bare || ends ? null : wordsIn(step);
    const frame = (words !== null && cast(step, words)) || toFrame(step, ends);
    step.memo = { by: dialect, form, ends, frame, more: known } satisfies Memo;
    return frame;
  }

  function toFrame(step: Step, ends: boolean): Frame | null {
    const said = say(step, ends);
    if (!said) return null;
    return {
      id: step.seq,
      json: inOneLine(JSON.stringify(said.data)),
      ...(said.event !== undefined && { event: said.event }),
      ...(said.bare && { bare: true }),
    };
  }

  /** Words differ from each other in their text alone: the rest of their JSON is made once. */
  function cast(step: Step, words: string): Frame | null {
    const artifactId = wordsOf(step.event as TaskEvent) as string;
    if (mould?.artifactId !== artifactId) mould = createMould(say, step, artifactId);
    bare = mould === null;
    if (!mould) return null;
    const json = mould.head + inOneLine(words) + mould.tail;
    return mould.event === undefined ? { id: step.seq, json } : { id: step.seq, event: mould.event, json };
  }

  return (steps, closing) => {
    const frames: Frame[] = [];
    for (let i = 0; i < steps.length; i++) {
      const frame = frameOf(steps[i] as Step, closing && i === steps.length - 1);
      if (frame) frames.push(frame);
    }
    return frames;
  };
}

/** Never in a text: it would be a control character. */
const BLANK = "\u0000words\u0000";

/** null: this dialect says more than the words (what it takes from the task may change, or it has a form of its own). */
function createMould(
  say: (step: Step, ends: boolean) => SaidStep | null,
  like: Step,
  artifactId: string,
): Mould | null {
  const { seq, at, taskId, contextId } = like;
  let looked = false;
  const blank: Step = {
    seq,
    at,
    taskId,
    contextId,
    event: toWords(artifactId, BLANK),
    get task() {
      looked = true;
      return like.task;
    },
  };
  const said = say(blank, false);
  if (!said || said.bare || (looked && !said.steady)) return null;
  const [head, tail, more] = inOneLine(JSON.stringify(said.data)).split(JSON.stringify(BLANK));
  if (head === undefined || tail === undefined || more !== undefined) return null;
  return { artifactId, head, tail, event: said.event };
}

/** One event is one line: JSON has no raw line ends but U+2028 and U+2029, which some readers take for one. */
function inOneLine(json: string): string {
  return /[\u2028\u2029]/.test(json)
    ? json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : json;
}
