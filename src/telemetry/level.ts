import { Fault } from "../model/index.ts";
import type { Endpoint, EndpointResponse } from "../ports/index.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The log level while the server runs. */
export interface LevelSwitch {
  level: LogLevel | (string & {});
}

export const isVerbose = ({ level }: LevelSwitch): boolean => level === "debug" || level === "trace";

/** Switches between the configured level and debug. */
export function createToggle(levels: LevelSwitch): () => string {
  const { level: usual } = levels;
  return () => {
    levels.level = isVerbose(levels) && usual !== levels.level ? usual : "debug";
    return levels.level;
  };
}

const PATH = "/admin/log-level";

export function levelRoutes(levels: LevelSwitch): readonly Endpoint[] {
  const reply = (): EndpointResponse => ({
    status: 200,
    headers: {},
    text: JSON.stringify({ level: levels.level }),
  });
  return [
    { verb: "GET", path: PATH, serve: reply },
    {
      verb: "POST",
      path: PATH,
      async serve(call) {
        // A foreign page can make a browser send any body, but not this content type.
        if (!/^application\/json\b/i.test(call.headers["content-type"] ?? ""))
          throw new Fault("invalid-request", "The Content-Type must be application/json");
        levels.level = readLevel(await call.body());
        return reply();
      },
    },
  ];
}

function readLevel(text: string): LogLevel {
  const found = LOG_LEVELS.find(level => level === wordIn(text));
  if (found) return found;
  const example = JSON.stringify({ level: "debug" });
  throw new Fault("invalid-params", `Send ${example}; there are: ${LOG_LEVELS.join(", ")}`, {
    field: "level",
  });
}

function wordIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly level?: unknown } | null)?.level;
  } catch {
    throw new Fault("parse", "The body is not JSON");
  }
}
