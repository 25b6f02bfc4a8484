import type { Json } from "../../lib/json.ts";
import { paint, type OutputStream, type Terminal, escapeControls } from "./terminal.ts";

/** What a command says: the answer on standard output, everything about it on standard error. */
export interface Output {
  /** The answer itself, as it is; on a terminal control characters are shown instead of obeyed. */
  text(text: string): void;
  /** A line of the answer. */
  line(text: string): void;
  json(value: Json): void;
  /** About the answer: dim, a line of its own. */
  note(text: string): void;
  alert(text: string): void;
  /** Says what is being waited for if it takes long; anything that is said ends it. A function is asked each time. */
  startWaiting(text: string | (() => string)): void;
  stopWaiting(): void;
  /** Ends the last line. */
  end(): void;
}

export function createOutput(terminal: Pick<Terminal, "out" | "err">, patienceMs: number): Output {
  const { out, err } = terminal;
  const spinner = createSpinner(err, patienceMs);
  let midLine = false;
  const answer = (text: string) => {
    spinner.stop();
    out.write(text);
    midLine = !text.endsWith("\n");
  };
  const freshLine = () => {
    if (midLine) answer("\n");
  };
  const aside = (text: string) => {
    spinner.stop();
    // The break is not part of the answer, so a pipe must not see it.
    if (midLine && out.tty && err.tty) err.write("\n");
    if (out.tty && err.tty) midLine = false;
    err.write(`${text}\n`);
  };
  const lineOf = (text: string) => {
    freshLine();
    answer(`${out.tty ? escapeControls(text) : text}\n`);
  };
  return {
    text: text => text !== "" && answer(out.tty ? escapeControls(text) : text),
    line: lineOf,
    json: value => answer(`${JSON.stringify(value)}\n`),
    note: text => aside(paint(err, "dim", escapeControls(text))),
    alert: text => aside(paint(err, "red", escapeControls(text))),
    startWaiting: text => spinner.start(text, midLine),
    stopWaiting: () => spinner.stop(),
    end: () => {
      spinner.stop();
      freshLine();
    },
  };
}

type Waiting = Parameters<Output["startWaiting"]>[0];
const said = (text: Waiting): string => (typeof text === "string" ? text : text());

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** After a while of silence: a spinner on a terminal, one line elsewhere. */
function createSpinner(err: OutputStream, patienceMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let shown = false;
  let told = false;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
    if (shown) err.write(CLEAR_LINE);
    shown = false;
  };
  const spin = (text: Waiting, frame: number) => {
    const seconds = Math.floor((patienceMs + frame * FRAME_MS) / 1000);
    err.write(
      `${CLEAR_LINE}${paint(err, "cyan", FRAMES[frame % FRAMES.length] as string)} ${said(text)} ${seconds} s`,
    );
    shown = true;
    timer = setTimeout(spin, FRAME_MS, text, frame + 1);
  };
  const tell = (text: Waiting) => {
    err.write(`${said(text)}\n`);
    told = true;
  };
  return {
    stop,
    start(text: Waiting, midLine: boolean): void {
      stop();
      if (err.tty && !midLine) timer = setTimeout(spin, patienceMs, text, 0);
      else if (!err.tty && !told) timer = setTimeout(tell, patienceMs, text);
    },
  };
}
