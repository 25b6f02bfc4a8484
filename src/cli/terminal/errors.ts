import { messageOf, type ErrorCategory, ClientError } from "../../client/errors.ts";

export { codeOf, messageOf, ClientError } from "../../client/errors.ts";

/** What a user of the terminal can do about it. */
const CURES: Readonly<Record<ErrorCategory, string>> = {
  "private-address": "Call one that can be reached from outside",
  "connection-refused": "Is the server running? Start one with: dragoman serve",
  "unknown-host": "Is it spelled right?",
  timeout: 'The task may go on: look with "dragoman tasks"',
  "not-http": "Another program may have this port: a server shows its address when it starts",
  unauthenticated: "It wants to know who calls: add --header 'Authorization: Bearer …'",
  forbidden: "This caller may not do this: check what --header says",
  "not-found": "Is the address right? A server shows it when it starts",
  "too-large": "The message is larger than this server takes",
  "rate-limited": "Too many calls: wait a little",
};

/** What happened, and what to do. */
export function describeError(error: unknown): string {
  const message = messageOf(error);
  return error instanceof ClientError && error.category ? `${message}. ${CURES[error.category]}` : message;
}
