import type { Embed, Fetch } from "../ports/index.ts";

export interface ProviderEmbedParts {
  /** `openai:text-embedding-3-small` */
  readonly model: string;
  readonly fetch: Fetch;
  readonly variable: (name: string) => string | undefined;
}

const OPENAI = "openai:";
const OPENAI_URL = "https://api.openai.com/v1";
/** Texts in one request. */
const TEXTS_MAX = 100;

export const isProviderModel = (name: string): boolean => name.startsWith(OPENAI);

/** Embeddings of OpenAI, or of a server with the same API (`OPENAI_BASE_URL`). */
export function createProviderEmbed({ model, fetch, variable }: ProviderEmbedParts): Embed {
  const base = (variable("OPENAI_BASE_URL") ?? OPENAI_URL).replace(/\/+$/, "");
  const key = variable("OPENAI_API_KEY");

  async function embed(input: readonly string[]): Promise<readonly (readonly number[])[]> {
    const response = await fetch(`${base}/embeddings`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model: model.slice(OPENAI.length), input }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${base}/embeddings answered ${response.status}: ${text.slice(0, 500)}`);
    const { data } = JSON.parse(text) as { data: { index: number; embedding: readonly number[] }[] };
    return data.toSorted((a, b) => a.index - b.index).map(one => one.embedding);
  }

  return async texts => {
    const vectors: (readonly number[])[] = [];
    for (let at = 0; at < texts.length; at += TEXTS_MAX)
      vectors.push(...(await embed(texts.slice(at, at + TEXTS_MAX))));
    return vectors;
  };
}
