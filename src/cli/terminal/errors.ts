import { ClientError, type ErrorCategory, messageOf } from "../../client/errors.ts";

export { ClientError, codeOf, messageOf } from "../../client/errors.ts";

const HINTS: Readonly<Record<ErrorCategory, string>> = {
  "private-address": "Use a public address",
  "connection-refused": "Start a server with: npx dragoman serve",
  "unknown-host": "Check the spelling of the host name",
  timeout: 'The task may still be running: list tasks with "npx dragoman tasks"',
  "not-http": "Another program may use this port: a server prints its URL when it starts",
  unauthenticated:
    "Set the variable DRAGOMAN_TOKEN, or add --token TOKEN (create one with: npx dragoman token create)",
  forbidden: "The credentials do not permit this",
  "not-found": "Check the URL: a server prints it when it starts",
  "too-large": "The message exceeds the body limit of the server",
  "rate-limited": "Too many requests: try again later",
};

/** The message, and what the user can do. */
export function describeError(error: unknown): string {
  const message = messageOf(error);
  return error instanceof ClientError && error.category ? `${message}. ${HINTS[error.category]}` : message;
}
