import { boolean, choice, type Option, port, text } from "./option.ts";
import { host } from "./server-options.ts";

const CONSOLE_MODES = ["off", "read", "on"] as const;
export type ConsoleMode = (typeof CONSOLE_MODES)[number];

export const TELEMETRY_OPTIONS = {
  console: {
    ...choice(CONSOLE_MODES, {
      help: "Console at /console and admin API: read and act, read only, or none",
      default: "on",
      defaultText: "`on`; `off` if other machines can connect without authentication",
      placeholder: "mode",
    }),
    default: undefined,
  } as Option<ConsoleMode | undefined>,
  metrics: boolean({ help: "Serve metrics for Prometheus at /metrics", default: true }),
  healthPrefix: text({
    help: "Path before /livez, /readyz and /info",
    default: "",
    placeholder: "path",
    expected: "a path such as /health, without a slash at its end",
    isValid: path => /^(?:\/[\w.~-]+)*$/.test(path),
  }),
  adminPort: port({
    help: "Separate port for /admin and /metrics; otherwise they share the HTTP port",
    default: undefined,
  }),
  adminHost: host("Address that the admin port listens on"),
  logBodies: boolean({
    help: "Log the content of calls at level debug, shortened and without likely secrets",
    default: false,
  }),
  traceContent: boolean({ help: "Put the content of messages into traces, shortened", default: false }),
};
