/** Loads the functions that the settings name by their files: embeddings, custom authentication, an application. */
import type { Settings } from "../config/config.ts";
import { isProviderModel } from "../items/provider-embed.ts";
import { StartupError } from "../lib/startup-error.ts";
import { importReference } from "../loader/import-file.ts";
import type { AskAuthorization, CustomAuth, Embed } from "../ports/index.ts";

export interface ServerFunctions {
  /** Of the option `items`. */
  readonly embed?: Embed | undefined;
  /** Of the option `authFile`. */
  readonly customAuth?: CustomAuth | undefined;
  /** Of `http.app` in a langgraph.json: serves the paths that the server does not have. */
  readonly app?: CustomApp | undefined;
}
export type CustomApp = (request: Request) => Response | Promise<Response>;

export interface LoadedFunctions {
  readonly functions: ServerFunctions;
  readonly files: readonly string[];
}

export async function loadFunctions(settings: Settings, generation: number): Promise<LoadedFunctions> {
  const files: string[] = [];
  const load = async <T>(
    place: string | undefined,
    expected: string,
    convert: (value: unknown) => T | undefined,
  ): Promise<T | undefined> => {
    if (place === undefined) return undefined;
    const imported = await importReference(place, settings.agentsFolder, generation);
    files.push(...imported.files);
    const found = convert(imported.value);
    if (found !== undefined) return found;
    throw new StartupError(`${place}: expected ${expected}`);
  };
  const { embed } = settings.items;
  const embedPlace = typeof embed === "string" && !isProviderModel(embed) ? embed : undefined;
  const functions = {
    embed: await load(
      embedPlace,
      "a function of texts that returns vectors, or embeddings of LangChain",
      toEmbed,
    ),
    customAuth: await load(settings.authFile, "an Auth of @langchain/langgraph-sdk/auth", toCustomAuth),
    app: await load(
      settings.langgraphFile?.app,
      "an application with a method fetch, such as one of Hono",
      toApp,
    ),
  };
  return { functions, files };
}

function toEmbed(value: unknown): Embed | undefined {
  if (typeof value === "function") return async texts => value(texts);
  const embeddings = value as { readonly embedDocuments: Embed } | null | undefined;
  return typeof embeddings?.embedDocuments === "function"
    ? texts => embeddings.embedDocuments(texts)
    : undefined;
}

/** An `Auth` keeps its functions in this member; the package itself is not needed to call them. */
const HANDLERS = "~handlerCache";

export function toCustomAuth(value: unknown): CustomAuth | undefined {
  const cache = (value as { readonly [HANDLERS]?: unknown } | null | undefined)?.[HANDLERS] as
    | { readonly authenticate?: unknown; readonly callbacks?: Record<string, AskAuthorization> }
    | undefined;
  if (typeof cache?.authenticate !== "function") return undefined;
  return { authenticate: cache.authenticate as CustomAuth["authenticate"], handlers: cache.callbacks ?? {} };
}

function toApp(value: unknown): CustomApp | undefined {
  const app = value as { readonly fetch?: CustomApp } | null | undefined;
  if (typeof app?.fetch === "function") return request => (app as { fetch: CustomApp }).fetch(request);
  return typeof value === "function" ? (value as CustomApp) : undefined;
}
