import { CLOCK_START, TICK_MS } from "./corpus-server.ts";

/** The letter of an id, by the member in which it is first seen. */
const LETTERS: Readonly<Record<string, string>> = {
  id: "T",
  taskId: "T",
  contextId: "C",
  sessionId: "C",
  messageId: "M",
  task_id: "T",
  context_id: "C",
  conversation: "C",
};
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
/** Some dialects put a word before an id: it tells what it is the id of. */
const PREFIXES: Readonly<Record<string, string>> = { resp_: "T", "chatcmpl-": "T" };
const ID = new RegExp(`(?:"(\\w+)":"|"(conversation)":\\{"id":")?(resp_|chatcmpl-)?(${UUID})`, "g");
const PAGE = /"(nextPageToken)":"([^"]+)"/g;
const TAG = /^(ETag: ")([^"]+)(")$/gm;
const REFERENCE = /(in the log under )([0-9a-f]{12})\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const TIME_NAME = /\bTS(\d+)\b/g;

/** Stable names for values that differ from run to run, numbered in the order in which they are first seen. */
export class StableNames {
  readonly #byValue = new Map<string, string>();
  readonly #byName = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** From the wire to the file. */
  hide(text: string): string {
    return this.#replaceKnown(text)
      .replace(TAG, (_, before, tag, after) => `${before}${this.#name("E", tag)}${after}`)
      .replace(PAGE, (_, member, token) => `"${member}":"${this.#name("P", token)}"`)
      .replace(REFERENCE, (_, before, reference) => `${before}${this.#name("R", reference)}`)
      .replace(ID, (found: string, member?: string, nested?: string, prefix = "", id = "") => {
        const letter = PREFIXES[prefix] ?? LETTERS[member ?? nested ?? ""] ?? "X";
        return found.replace(id, this.#name(letter, id));
      })
      .replace(TIME, time => timeName(time) ?? time);
  }

  /** From the file to the wire. */
  show(text: string): string {
    return text
      .replace(/(?<![A-Za-z0-9])[A-Z]\d+\b/g, name => this.#byName.get(name) ?? name)
      .replace(TIME_NAME, (_, request) => new Date(CLOCK_START + request * TICK_MS).toISOString());
  }

  #replaceKnown(text: string): string {
    let named = text;
    // Page tokens and entity tags are short: replace only whole quoted strings.
    for (const [value, name] of this.#byValue)
      named = /^[PE]/.test(name)
        ? named.replaceAll(`"${value}"`, `"${name}"`)
        : named.replaceAll(value, name);
    return named;
  }

  #name(letter: string, value: string): string {
    // A value that was just replaced matches again under its name.
    const known = this.#byName.has(value) ? value : this.#byValue.get(value);
    if (known !== undefined) return known;
    const count = (this.#counts.get(letter) ?? 0) + 1;
    const name = `${letter}${count}`;
    this.#counts.set(letter, count);
    this.#byValue.set(value, name);
    this.#byName.set(name, value);
    return name;
  }
}

function timeName(time: string): string | undefined {
  const ticks = (Date.parse(time) - CLOCK_START) / TICK_MS;
  return Number.isInteger(ticks) && ticks >= 0 && ticks < 1_000 ? `TS${ticks}` : undefined;
}
