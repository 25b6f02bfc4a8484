/** The server's log: errors and facts that callers must not see. */
export interface Log {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}

/** The same log, with these facts in every line. */
export const withFacts = (log: Log, known: object): Log => ({
  debug: (facts, text) => log.debug({ ...known, ...facts }, text),
  info: (facts, text) => log.info({ ...known, ...facts }, text),
  warn: (facts, text) => log.warn({ ...known, ...facts }, text),
  error: (facts, text) => log.error({ ...known, ...facts }, text),
});
