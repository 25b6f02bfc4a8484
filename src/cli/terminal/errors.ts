import { messageOf, type Symptom, Trouble } from "../../client/errors.ts";

export { codeOf, messageOf, Trouble } from "../../client/errors.ts";

/** What a user of the terminal can do about it. */
const CURES: Readonly<Record<Symptom, string>> = {
  inside: "Call one that can be reached from outside",
  refused: "Is the server running? Start one with: dragoman serve",
  "unknown-host": "Is it spelled right?",
  silent: 'The task may go on: look with "dragoman tasks"',
  "no-http": "Another program may have this port: a server shows its address when it starts",
  unauthenticated: "It wants to know who calls: add --header 'Authorization: Bearer …'",
  forbidden: "This caller may not do this: check what --header says",
  missing: "Is the address right? A server shows it when it starts",
  large: "The message is larger than this server takes",
  many: "Too many calls: wait a little",
};

/** What happened, and what to do. */
export function told(error: unknown): string {
  const message = messageOf(error);
  return error instanceof Trouble && error.symptom ? `${message}. ${CURES[error.symptom]}` : message;
}
