/** Options on what the server tells about itself. */
import { z } from "zod";
import { asText, asTruth, type Facts, type Option, whole } from "./option.ts";

export interface TelemetryOptions {
  readonly metrics: boolean;
  /** Before /livez, /readyz and /info; "": they are at the root. */
  readonly healthPrefix: string;
  /** undefined: what is for administrators is at the same port as everything else. */
  readonly adminPort: number | undefined;
  readonly adminHost: string;
  readonly logBodies: boolean;
  readonly traceContent: boolean;
}

const truth = (facts: Facts<boolean>): Option<boolean> => ({
  ...facts,
  expected: "true or false",
  schema: z.boolean(),
  fromText: asTruth,
});

export const TELEMETRY_OPTIONS: { readonly [K in keyof TelemetryOptions]: Option<TelemetryOptions[K]> } = {
  metrics: truth({ about: "Count what happens, for Prometheus, at /metrics", fallback: true }),
  healthPrefix: {
    about: "The path before /livez, /readyz and /info",
    expected: "a path such as /health, without a slash at its end",
    schema: z.string().regex(/^(?:\/[\w.~-]+)*$/),
    fallback: "",
    fromText: asText,
  },
  adminPort: whole<number | undefined>(0, 65_535, {
    about: "A port of its own for /admin and /metrics; else they are with everything else",
    fallback: undefined,
  }),
  adminHost: {
    about: "The address at which the admin port listens",
    expected: "a host name or an address",
    schema: z.string().regex(/^[^\s/]+$/),
    fallback: "127.0.0.1",
    fromText: asText,
  },
  logBodies: truth({
    about: "Log what calls say, shortened and without what looks like a secret, at the level debug",
    fallback: false,
  }),
  traceContent: truth({
    about: "Put what callers and agents say into traces, shortened",
    fallback: false,
  }),
};
