import type { Json } from "../../lib/json.ts";
import { CLI_LIMITS } from "../limits.ts";
import { escapeControls, type OutputStream, paint, type Terminal } from "./terminal.ts";

/** Results go to standard output, everything else to standard error. */
export interface Output {
  /** A piece of the result, without a newline; on a terminal control characters are escaped. */
  text(text: string): void;
  /** A line of the result. */
  line(text: string): void;
  /** A line that has colours already, and no text of others that is not escaped. */
  paintedLine(text: string): void;
  json(value: Json): void;
  /** A dim line on standard error. */
  note(text: string): void;
  /** A red line on standard error. */
  alert(text: string): void;
  /** If it takes long, shows what the command waits for, until the next output. A function is called for each frame. */
  startWaiting(text: WaitingText): void;
  stopWaiting(): void;
  /** Ends the last line. */
  end(): void;
}

type WaitingText = string | (() => string);

export function createOutput(
  { out, err }: Pick<Terminal, "out" | "err">,
  waitingDelayMs: number = CLI_LIMITS.waitingDelayMs,
): Output {
  const spinner = createSpinner(err, waitingDelayMs);
  let isMidLine = false;
  const writeResult = (text: string): void => {
    spinner.stop();
    out.write(text);
    isMidLine = !text.endsWith("\n");
  };
  const endLine = (): void => {
    if (isMidLine) writeResult("\n");
  };
  const writeNote = (text: string): void => {
    spinner.stop();
    if (out.tty && err.tty) {
      // The line break is not part of the result, so a pipe must not get it.
      if (isMidLine) err.write("\n");
      isMidLine = false;
    }
    err.write(`${text}\n`);
  };
  const toSafe = (text: string): string => (out.tty ? escapeControls(text) : text);
  return {
    text: text => text !== "" && writeResult(toSafe(text)),
    line(text) {
      endLine();
      writeResult(`${toSafe(text)}\n`);
    },
    paintedLine(text) {
      endLine();
      writeResult(`${text}\n`);
    },
    json: value => writeResult(`${JSON.stringify(value)}\n`),
    note: text => writeNote(paint(err, "dim", escapeControls(text))),
    alert: text => writeNote(paint(err, "red", escapeControls(text))),
    startWaiting: text => spinner.start(text, isMidLine),
    stopWaiting: () => spinner.stop(),
    end() {
      spinner.stop();
      endLine();
    },
  };
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** After the delay: a spinner on a terminal, otherwise one line, once. */
function createSpinner(err: OutputStream, delayMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;
  let isLineWritten = false;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (isShown) err.write(CLEAR_LINE);
    isShown = false;
  };
  const writeFrame = (text: WaitingText, frame: number): void => {
    const seconds = Math.floor((delayMs + frame * FRAME_MS) / 1000);
    const symbol = paint(err, "cyan", FRAMES[frame % FRAMES.length] as string);
    err.write(`${CLEAR_LINE}${symbol} ${resolveText(text)} ${seconds} s`);
    isShown = true;
    timer = setTimeout(writeFrame, FRAME_MS, text, frame + 1);
  };
  const writeLine = (text: WaitingText): void => {
    err.write(`${resolveText(text)}\n`);
    isLineWritten = true;
  };
  return {
    stop,
    start(text: WaitingText, isMidLine: boolean): void {
      stop();
      if (err.tty && !isMidLine) timer = setTimeout(writeFrame, delayMs, text, 0);
      else if (!err.tty && !isLineWritten) timer = setTimeout(writeLine, delayMs, text);
    },
  };
}

const resolveText = (text: WaitingText): string => (typeof text === "string" ? text : text());
