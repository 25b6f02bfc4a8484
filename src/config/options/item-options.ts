import type { Embed } from "../../model/index.ts";
import { structured } from "./option.ts";

/** The long-term memory of callers. */
export interface ItemsConfig {
  /** For a search by meaning: a function, `"./file.ts:export"`, or a model of OpenAI, `"openai:text-embedding-3-small"`. */
  readonly embed?: string | Embed | undefined;
  /** The numbers in one vector; default: what the function returns. */
  readonly dims?: number | undefined;
  /** The members of values that a search by meaning compares; default: the whole value. */
  readonly fields?: readonly string[] | undefined;
  /** After this time an item is deleted; default: never. */
  readonly ttlMs?: number | undefined;
  /** Whether reading an item begins its time anew; default: true. */
  readonly refreshOnRead?: boolean | undefined;
}

export const ITEM_OPTIONS = {
  items: structured<ItemsConfig>({
    help: "Long-term memory of callers (`ctx.items`): how it is searched, and when items expire",
    default: {},
    expected: 'an object such as { embed: "./embed.ts:embed", fields: ["text"], ttlMs: 86400000 }',
  }),
};
