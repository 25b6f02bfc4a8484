import { type Step, toFault } from "./model/index.ts";
import type {
  Answer,
  Catalog,
  Core,
  Dialect,
  Frame,
  Guard,
  Log,
  Operation,
  Pipeline,
  Steps,
  WireCall,
  WireReply,
} from "./ports.ts";

/**
 * One call from start to end; the first file to read.
 *
 *   1 which dialect speaks   (endpoint, headers, method name)
 *   2 who calls              (headers only)
 *   3 what is asked          (dialect.decode → Operation)
 *   4 for whom               (guard.admit → Scope)
 *   5 do it                  (core: append to the log, read from the log)
 *   6 say it                 (dialect.encode)
 */
export function createPipeline(parts: {
  dialects: readonly Dialect[];
  guard: Guard;
  core: Core;
  catalog: Catalog;
  log: Log;
}): Pipeline {
  const { dialects, guard, core, catalog, log } = parts;

  const choose = (call: WireCall): Dialect =>
    dialects.find(dialect => dialect.claims(call)) ?? (dialects[0] as Dialect);

  function refusal(dialect: Dialect, call: WireCall, error: unknown): WireReply {
    const fault = toFault(error);
    if (fault.code === "internal" || fault.cause)
      log.error({ err: fault.cause ?? fault, method: call.method, dialect: dialect.name }, "a call failed");
    return {
      kind: "fault",
      headers: dialect.replyHeaders(call, []),
      fault: dialect.encodeFault(fault, call),
    };
  }

  async function* toFrames(dialect: Dialect, call: WireCall, steps: Steps): AsyncGenerator<readonly Frame[]> {
    try {
      for await (const bunch of steps) {
        const frames = toFramesOf(dialect, bunch.steps, bunch.closing);
        if (frames.length > 0) yield frames;
      }
    } catch (error) {
      const reply = refusal(dialect, call, error);
      if (reply.kind === "fault") yield [{ json: "", fault: reply.fault }];
    }
  }

  return {
    refuse: (call, fault) => refusal(choose(call), call, fault),
    async handle(call) {
      const dialect = choose(call);
      try {
        const principal = guard.identify(call.headers);
        const operation = dialect.decode(call);
        const scope = guard.admit(principal, operation);
        const answer = await core(operation, scope, call.signal);
        const headers = dialect.replyHeaders(call, activeExtensions(catalog, operation));
        if (isSteps(answer)) return { kind: "many", headers, frames: toFrames(dialect, call, answer) };
        return { kind: "one", headers, json: JSON.stringify(dialect.encode(operation, answer)) };
      } catch (error) {
        return refusal(dialect, call, error);
      }
    },
  };
}

/** v1 §3.3.4: what the caller asked for and the agent has. */
function activeExtensions(catalog: Catalog, operation: Operation): readonly string[] {
  if (operation.op !== "send" && operation.op !== "stream") return [];
  const wanted = operation.send.extensions;
  if (wanted.length === 0) return wanted;
  const known = catalog.find(operation.agent)?.card.extensions ?? [];
  return wanted.filter(uri => known.some(one => one.uri === uri));
}

const isSteps = (answer: Answer | Steps): answer is Steps => Symbol.asyncIterator in answer;

/** One step is made into JSON once per dialect, not once per reader: what was made is kept with the step. */
interface Memo {
  readonly by: Dialect;
  readonly ends: boolean;
  readonly frame: Frame | null;
  readonly more: Memo | undefined;
}

function toFramesOf(dialect: Dialect, steps: readonly Step[], closing: boolean): readonly Frame[] {
  const frames: Frame[] = [];
  for (let i = 0; i < steps.length; i++) {
    const frame = frameOf(dialect, steps[i] as Step, closing && i === steps.length - 1);
    if (frame) frames.push(frame);
  }
  return frames;
}

function frameOf(dialect: Dialect, step: Step, ends: boolean): Frame | null {
  const known = step.memo as Memo | undefined;
  for (let memo = known; memo; memo = memo.more)
    if (memo.by === dialect && memo.ends === ends) return memo.frame;
  const frame = toFrame(dialect, step, ends);
  step.memo = { by: dialect, ends, frame, more: known } satisfies Memo;
  return frame;
}

function toFrame(dialect: Dialect, step: Step, ends: boolean): Frame | null {
  const said = dialect.encodeStep(step, ends);
  if (!said) return null;
  const frame: Frame = { id: step.seq, json: toLine(said.data) };
  return said.event === undefined && !said.bare
    ? frame
    : { ...frame, ...(said.event !== undefined && { event: said.event }), ...(said.bare && { bare: true }) };
}

/** One event is one line: JSON has no raw line ends but U+2028 and U+2029, which some readers take for one. */
function toLine(data: unknown): string {
  const text = JSON.stringify(data);
  return /[\u2028\u2029]/.test(text)
    ? text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : text;
}
