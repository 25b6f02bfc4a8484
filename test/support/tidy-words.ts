import { placesOf, type Source } from "./tidy-tree.ts";

/** A pattern that is banned in src/, and its replacement. */
export interface Ban {
  readonly what: string;
  readonly instead: string;
  readonly pattern: RegExp;
  /** Files where it is allowed, and why. */
  readonly except?: Readonly<Record<string, string>>;
  /** Searched in comments and texts, too. */
  readonly everywhere?: boolean;
}

export const BANS: readonly Ban[] = [
  { what: "console", instead: "a Log is a parameter", pattern: /\bconsole\s*\./g },
  {
    what: "process.env",
    instead: "config/ reads the environment, once",
    pattern: /\bprocess\s*\.\s*env\b/g,
    except: {
      "src/config/config.ts": "the only reader",
      "src/config/options/variable.ts": "for commands, which start faster without the rest of config",
    },
  },
  {
    what: "time and random numbers",
    instead: "pass them as parameters, so that runs can be replayed",
    pattern:
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bperformance\.now\b/g,
    except: {
      "src/server/services.ts": "creates the name of this node",
      "src/server/clock.ts": "passes them to the server",
      "src/keys/key-ring.ts": "keys must be unpredictable",
      "src/keys/encryption.ts": "a nonce must be unique",
      "src/webhook/index.ts": "runs in the receiver's program",
      "src/server/load-parts.ts": "passes the time to the default log",
      "src/cli/start.ts": "passes them to the command line",
      "src/cli/terminal/process-terminal.ts": "is the terminal of a command; tests use memory-terminal.ts",
    },
  },
  { what: "any", instead: "use a type, or unknown", pattern: /(?<![\w.#])any\b(?!\s*[(\w])/g },
  {
    what: "reminders",
    instead: "do it now, or open an issue",
    pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/g,
    everywhere: true,
  },
  {
    what: "checks that are switched off",
    instead: "fix the types",
    pattern: /@ts-(?:ignore|nocheck|expect-error)|biome-ignore-all/g,
    everywhere: true,
  },
  {
    what: "names without meaning",
    instead: "name the thing",
    pattern:
      /\b(?:class|interface|type|function|const|let)\s+\w*(?:Manager|Helper|Utils?|Service|Impl)(?![a-z])|\b(?:class|interface|type)\s+\w*Handler\b/g,
  },
  {
    what: "variables at module level",
    instead: "create them in a factory; the server owns them",
    pattern: /^(?:export\s+)?(?:let|var)\s/gm,
  },
  {
    what: "collections at module level",
    instead: "module level holds constants only",
    pattern: /^(?:export\s+)?const\s+\w+(?::[^=]+)?\s*=\s*(?:new\s+(?:Map|Set|WeakMap)\b[^(]*\(\)|\[\])/gm,
    except: {
      "src/protocol/shared/fields.ts": "spellings of names in the code: bounded by their number",
    },
  },
  {
    what: "error codes",
    instead: "throw a Fault; its dialect's faults.ts has the code",
    pattern: /-32\d{3}\b/g,
    everywhere: true,
    except: {
      "src/protocol/*/faults.ts": "the table of a dialect",
    },
  },
  {
    what: "scopes created by a cast",
    instead: "only auth/ creates scopes",
    pattern: /\bas\s+(?:unknown\s+as\s+)?Scope\b/g,
    except: {
      "src/auth/scope.ts": "creates scopes",
      "src/store/kernel/stored-scope.ts": "restores the scope that was stored with a row",
    },
  },
];

const isExempt = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^/]+")}$`).test(path);

const placesIn = (file: Source, { pattern, everywhere }: Ban): readonly string[] =>
  placesOf(file, everywhere ? file.text : file.code, pattern);

export function violations(ban: Ban, files: readonly Source[]): readonly string[] {
  const exempt = Object.keys(ban.except ?? {});
  return files
    .filter(file => !exempt.some(pattern => isExempt(pattern, file.path)))
    .flatMap(file => placesIn(file, ban));
}

/** Exceptions that are no longer needed. */
export const idleExceptions = (ban: Ban, files: readonly Source[]): readonly string[] =>
  Object.keys(ban.except ?? {}).filter(
    pattern => !files.some(file => isExempt(pattern, file.path) && placesIn(file, ban).length > 0),
  );
