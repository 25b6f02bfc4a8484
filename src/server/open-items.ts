/** Opens the long-term memory of callers as the settings describe it. */
import { readVariable } from "../config/config.ts";
import type { ItemsConfig } from "../config/options/item-options.ts";
import { createItems } from "../items/index.ts";
import { createProviderEmbed } from "../items/provider-embed.ts";
import type { Embed, Fetch, ItemStore, OpenItems } from "../ports/index.ts";

export interface OpenItemsParts {
  readonly settings: { readonly items: ItemsConfig };
  readonly store: ItemStore;
  readonly fetch: Fetch;
  /** See `ServerParts`. */
  readonly embed?: Embed | undefined;
}

export function openItems({ settings, store, fetch, embed }: OpenItemsParts): OpenItems {
  const { items } = settings;
  const found =
    embed ??
    (typeof items.embed === "string"
      ? createProviderEmbed({ model: items.embed, fetch, variable: readVariable })
      : items.embed);
  return createItems({
    store,
    embed: found && withDims(found, items.dims),
    fields: items.fields ?? ["$"],
    ttlMs: items.ttlMs,
    refreshOnRead: items.refreshOnRead ?? true,
  });
}

/** Vectors of another length could not be compared with those that are stored. */
function withDims(embed: Embed, dims: number | undefined): Embed {
  if (dims === undefined) return embed;
  return async texts => {
    const vectors = await embed(texts);
    const wrong = vectors.find(vector => vector.length !== dims);
    if (wrong) throw new Error(`the embedding function returned ${wrong.length} numbers instead of ${dims}`);
    return vectors;
  };
}
