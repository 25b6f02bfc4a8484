/** Where the API of OpenTelemetry keeps what a program has registered. */
const API = Symbol.for("opentelemetry.js.api.1");

/** Whether the program that we are in has an SDK of its own. To ask does not load anything. */
export const isSdkThere = (): boolean =>
  (globalThis as { [API]?: { readonly trace?: unknown } })[API]?.trace !== undefined;
