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
  { what: "console", instead: "a Log is handed in", pattern: /\bconsole\s*\./g },
  {
    what: "process.env",
    instead: "config/ reads the environment, once",
    pattern: /\bprocess\s*\.\s*env\b/g,
    except: { "src/config/config.ts": "the one reader" },
  },
  {
    what: "time and chance",
    instead: "hand them in, so that a story replays",
    pattern:
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bperformance\.now\b/g,
    except: {
      "src/server/services.ts": "hands a name to this node",
      "src/server/clock.ts": "hands them to the server",
      "src/keys/key-ring.ts": "keys that can be guessed are none",
      "src/keys/encryption.ts": "a nonce must never come twice",
      "src/webhook/index.ts": "is part of somebody else's program",
      "src/server/create-handler.ts": "hands the time to the log of a program that brings none",
      "src/cli/start.ts": "hands them to the command line",
      "src/cli/terminal/process-terminal.ts": "is the world around a command; tests use memory-terminal.ts",
    },
  },
  { what: "any", instead: "say what it is, or unknown", pattern: /(?<![\w.#])any\b(?!\s*[(\w])/g },
  {
    what: "reminders",
    instead: "do it now, or open an issue",
    pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/g,
    everywhere: true,
  },
  {
    what: "checks that are switched off",
    instead: "make the types say it",
    pattern: /@ts-(?:ignore|nocheck|expect-error)|biome-ignore-all/g,
    everywhere: true,
  },
  {
    what: "names that say nothing",
    instead: "name the thing that it knows",
    pattern:
      /\b(?:class|interface|type|function|const|let)\s+\w*(?:Manager|Helper|Utils?|Service|Impl)(?![a-z])|\b(?:class|interface|type)\s+\w*Handler\b/g,
  },
  {
    what: "variables at module level",
    instead: "make them in a factory; main.ts owns what is made",
    pattern: /^(?:export\s+)?(?:let|var)\s/gm,
  },
  {
    what: "collections at module level",
    instead: "the same: nothing lives there but constants",
    pattern: /^(?:export\s+)?const\s+\w+(?::[^=]+)?\s*=\s*(?:new\s+(?:Map|Set|WeakMap)\b[^(]*\(\)|\[\])/gm,
    except: {
      "src/protocol/shared/fields.ts":
        "spellings of names that stand in the code: no more than there are names",
    },
  },
  {
    what: "numbers of errors",
    instead: "throw a Fault with a word; a faults.ts has its numbers",
    pattern: /-32\d{3}\b/g,
    everywhere: true,
    except: {
      "src/protocol/*/faults.ts": "the table of a dialect",
      "src/client/faults.ts": "what the client acts on",
    },
  },
  {
    what: "scopes made by hand",
    instead: "only auth/ can prove that somebody was admitted",
    pattern: /\bas\s+(?:unknown\s+as\s+)?Scope\b/g,
    except: {
      "src/auth/scope.ts": "the mint",
      "src/store/sqlite/owners.ts": "brings back what was stored with the task",
      "src/store/postgres/owners.ts": "the same",
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
