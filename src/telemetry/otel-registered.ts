/** The global registry of the OpenTelemetry API. */
const API = Symbol.for("opentelemetry.js.api.1");

/** Whether the host program has registered an OpenTelemetry SDK. Loads nothing. */
export const isSdkThere = (): boolean =>
  (globalThis as { [API]?: { readonly trace?: unknown } })[API]?.trace !== undefined;
