/** The sections of LangGraph's config file that describe the server: store, checkpointer, auth, http. */
import type { CorsRules, WebhookRules } from "../model/index.ts";
import type { ConfigSection } from "./config-section.ts";
import { readWebhooks } from "./langgraph-webhooks.ts";

/** Parts of the API that `http.disable_*` switches off. */
const SWITCHES = ["a2a", "mcp", "assistants", "threads", "runs", "store", "meta", "ui", "webhooks"] as const;
export type ApiPart = (typeof SWITCHES)[number];

/** The settings of a langgraph.json that are no options of the server. */
export interface LanggraphServer {
  /** Names of agents by the names of their graphs in the file, where they differ. */
  readonly names: Readonly<Record<string, string>>;
  readonly off: readonly ApiPart[];
  readonly auth: LanggraphAuth | undefined;
  /** `./app.ts:app`: an application with routes of its own. */
  readonly app: string | undefined;
  /** Callers of its routes are authenticated, too. */
  readonly isAppGuarded: boolean;
  /** A path under which everything is served as well, such as `/api`. */
  readonly mountPrefix: string | undefined;
  readonly cors: CorsRules;
  /** Request headers that runs get in `config.configurable`. */
  readonly configurableHeaders: HeaderRules;
  /** For threads that are created without one. */
  readonly threadTtl: ThreadTtlRule | undefined;
  readonly webhooks: WebhookRules;
}
export interface LanggraphAuth {
  /** `./auth.ts:auth`: the option `authFile`. */
  readonly path: string;
  /** Studio calls are authenticated like all others. */
  readonly isStudioGuarded: boolean;
  readonly cache: AuthCacheRule | undefined;
}
export interface AuthCacheRule {
  /** Headers that callers differ in, in lower case. */
  readonly headers: readonly string[];
  readonly ttlMs: number;
  readonly entriesMax: number;
}
/** Names of headers in lower case, in which `*` stands for any characters. undefined: the default. */
export interface HeaderRules {
  readonly includes: readonly string[] | undefined;
  readonly excludes: readonly string[] | undefined;
}
export interface ThreadTtlRule {
  readonly strategy: "delete" | "keep_latest";
  readonly minutes: number;
}

const MINUTE_MS = 60_000;
const MINUTES_MAX = 60 * 24 * 366 * 10;
const JS_REFERENCE = /\.[cm]?[jt]s(?::[\w$]+)?$/;
const isJs = (path: string): boolean => JS_REFERENCE.test(path);

export function readServer(config: ConfigSection): {
  readonly values: Readonly<Record<string, unknown>>;
  readonly server: Omit<LanggraphServer, "names">;
} {
  const { off, corsOrigins, ...http } = readHttp(config.section("http"));
  const auth = readAuth(config.section("auth"));
  const items = readStore(config.section("store"));
  const threadTtl = readCheckpointer(config.section("checkpointer"));
  return {
    values: {
      ...(corsOrigins && { cors: corsOrigins }),
      ...(items && { items }),
      ...(auth && { auth: "custom", authFile: auth.path }),
      ...(off.includes("a2a") && { a2a: false }),
      ...(off.includes("mcp") && { mcp: false }),
    },
    server: { off, ...http, auth, threadTtl, webhooks: readWebhooks(config.section("webhooks")) },
  };
}

function readStore(store: ConfigSection | undefined): object | undefined {
  if (!store) return undefined;
  const index = store.section("index");
  const embed = index?.text(
    "embed",
    'the place of a function ("./embed.ts:embed"), or a model of OpenAI ("openai:text-embedding-3-small")',
    place => isJs(place) || place.startsWith("openai:"),
  );
  const dims = index?.integer("dims", 1, 100_000);
  const fields = index?.texts("fields");
  if (index && index.raw("embed") === undefined) store.refuse("index", "needs embed");
  index?.finish();
  const ttl = store.section("ttl");
  const minutes = ttl?.number("default_ttl", 0.001, MINUTES_MAX);
  const refreshOnRead = ttl?.boolean("refresh_on_read");
  // Expired items are never visible, and deleted within a minute.
  ttl?.number("sweep_interval_minutes", 0, MINUTES_MAX);
  ttl?.finish();
  store.finish({ path: "compile the graph with your store instead" });
  return {
    ...(embed !== undefined && { embed }),
    ...(dims !== undefined && { dims }),
    ...(fields && fields.length > 0 && { fields }),
    ...(minutes !== undefined && { ttlMs: Math.round(minutes * MINUTE_MS) }),
    ...(refreshOnRead !== undefined && { refreshOnRead }),
  };
}

function readCheckpointer(checkpointer: ConfigSection | undefined): ThreadTtlRule | undefined {
  if (!checkpointer) return undefined;
  const ttl = checkpointer.section("ttl");
  const strategy = ttl?.choice("strategy", ["delete", "keep_latest"]) ?? "delete";
  const minutes = ttl?.integer("default_ttl", 1, MINUTES_MAX);
  // The server looks every minute, and deletes in small commits.
  ttl?.number("sweep_interval_minutes", 0, MINUTES_MAX);
  ttl?.integer("sweep_limit", 1, Number.MAX_SAFE_INTEGER);
  ttl?.finish();
  checkpointer.finish({
    path: "compile the graph with your checkpointer instead",
    serde: "checkpoints are stored in the format of the graph's own library",
    backend: "checkpoints are stored with the tasks: choose the store with --data",
  });
  return minutes === undefined ? undefined : { strategy, minutes };
}

function readAuth(auth: ConfigSection | undefined): LanggraphAuth | undefined {
  if (!auth) return undefined;
  const path = auth.text("path", "the place of an Auth in JavaScript or TypeScript: ./auth.ts:auth", isJs);
  const isStudioGuarded = auth.boolean("disable_studio_auth") ?? false;
  const cache = auth.section("cache");
  const headers = cache?.texts("cache_keys", "a list of header names") ?? [];
  const seconds = cache?.number("ttl_seconds", 0, 86_400) ?? 0;
  const entriesMax = cache?.integer("max_size", 1, 1_000_000) ?? 1_000;
  cache?.finish();
  // Describes the credentials in the original's own documentation.
  auth.section("openapi");
  if (auth.raw("path") === undefined) auth.refuse("path", "is missing: ./auth.ts:auth");
  auth.finish();
  if (path === undefined) return undefined;
  const rule = { headers: headers.map(name => name.toLowerCase()), ttlMs: seconds * 1_000, entriesMax };
  return { path, isStudioGuarded, cache: rule.headers.length > 0 && seconds > 0 ? rule : undefined };
}

const NO_HEADERS: HeaderRules = { includes: undefined, excludes: undefined };
/** Without rules: front ends in development call from a port of the same machine. */
const LOOPBACK_CORS: CorsRules = {
  originPattern: "https?://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::\\d{1,5})?",
  methods: undefined,
  headers: undefined,
  exposedHeaders: undefined,
  allowsCredentials: false,
  maxAgeSeconds: undefined,
};

function readHttp(http: ConfigSection | undefined) {
  const cors = http?.section("cors");
  const off = SWITCHES.filter(part => http?.boolean(`disable_${part}`) === true);
  const app = http?.text(
    "app",
    "the place of an application in JavaScript or TypeScript: ./app.ts:app",
    isJs,
  );
  const isAppGuarded = http?.boolean("enable_custom_route_auth") ?? false;
  const prefix = http?.text("mount_prefix", "a path such as /api", path => /^\/[\w./~-]*[\w~-]$/.test(path));
  const headers = http?.section("configurable_headers");
  const configurableHeaders = headers ? readHeaders(headers) : NO_HEADERS;
  const origins = cors?.texts("allow_origins", "a list of origins");
  const rules = cors ? readCors(cors) : LOOPBACK_CORS;
  if (rules.allowsCredentials && origins?.includes("*"))
    cors?.refuse(
      "allow_credentials",
      'needs a list of origins instead of "*": any page could act for its visitor',
    );
  http?.finish({
    logging_headers: "the log contains no headers; set the option logBodies for the content of calls",
    middleware_order: "middleware of the application applies to its own routes",
  });
  return {
    off,
    app,
    isAppGuarded,
    mountPrefix: prefix,
    configurableHeaders,
    cors: rules,
    corsOrigins: origins && origins.length > 0 ? origins : undefined,
  };
}

/** Both spellings are in use: `includes` and `include`. */
function readHeaders(headers: ConfigSection): HeaderRules {
  const lower = (names: readonly string[] | undefined) => names?.map(name => name.toLowerCase());
  const includes = lower(headers.texts("includes") ?? headers.texts("include"));
  const excludes = lower(headers.texts("excludes") ?? headers.texts("exclude"));
  for (const key of ["include", "exclude"]) headers.raw(key);
  headers.finish();
  return { includes, excludes };
}

function readCors(cors: ConfigSection): CorsRules {
  const rules = {
    originPattern: cors.text("allow_origin_regex", "a regular expression", isPattern),
    methods: cors.texts("allow_methods", "a list of methods"),
    headers: cors.texts("allow_headers", "a list of header names"),
    exposedHeaders: cors.texts("expose_headers", "a list of header names"),
    allowsCredentials: cors.boolean("allow_credentials") ?? false,
    maxAgeSeconds: cors.integer("max_age", 0, 86_400),
  };
  cors.finish();
  return rules;
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return pattern.length <= 1_000;
  } catch {
    return false;
  }
}
