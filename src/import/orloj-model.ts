/** ModelEndpoints of Orloj as endpoints with the chat completions API. */
import type { ConfigObject, ImportDraft } from "./draft.ts";
import type { Members } from "./members.ts";

interface Provider {
  /** Where the files name no address. */
  readonly baseUrl?: string;
  /** What the chat completions API has after the address. */
  readonly path?: string;
}

/** Providers with an OpenAI-compatible API. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { baseUrl: "https://api.openai.com/v1" },
  "openai-compatible": {},
  anthropic: { baseUrl: "https://api.anthropic.com/v1" },
  ollama: { baseUrl: "http://127.0.0.1:11434", path: "/v1" },
  "azure-openai": { path: "/openai/v1" },
};

/** The options of an agent for a model; undefined, with a note: the model cannot be called. */
export function toModel(draft: ImportDraft, subject: string, members: Members): ConfigObject | undefined {
  const provider = members.text("spec", "provider") ?? "openai";
  const given = members.text("spec", "base_url");
  const model = members.text("spec", "default_model");
  const secret = members.text("spec", "auth", "secretRef");
  const maxTokens = members.numeric("spec", "options", "max_tokens");
  draft.noteRest(subject, members.rest());
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  const address = given ?? known?.baseUrl;
  const missing = findMissing(provider, known, address, model);
  if (missing !== undefined) {
    draft.note(subject, `is not carried over: ${missing}`);
    return undefined;
  }
  return {
    baseUrl: `${(address as string).replace(/\/+$/, "")}${known?.path ?? ""}`,
    model,
    keyEnv: secret === undefined ? undefined : draft.secret(secret, `the API key of ${subject}`),
    params: maxTokens === undefined ? undefined : { max_tokens: maxTokens },
  };
}

function findMissing(
  provider: string,
  known: Provider | undefined,
  address: string | undefined,
  model: string | undefined,
): string | undefined {
  if (known === undefined) return `the provider "${provider}" has no OpenAI-compatible API`;
  if (address === undefined || !URL.canParse(address)) return "base_url is not a URL";
  return model === undefined ? "default_model is missing" : undefined;
}
