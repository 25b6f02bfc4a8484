/** What a config means by `./file.ts:export`. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hint } from "../lib/did-you-mean.ts";
import { importFile } from "./import-file.ts";
import { LoadFailure } from "./load-error.ts";

export interface Referred {
  readonly value: unknown;
  readonly file: string;
  /** The file, and what it imports: see `Imported`. */
  readonly files: readonly string[];
}

/** Without an export: the default one. */
export async function importReference(reference: string, cwd: string, generation: number): Promise<Referred> {
  const [, path = reference, name = "default"] = /^(.+\.[cm]?[jt]s):([\w$]+)$/.exec(reference) ?? [];
  const file = resolve(cwd, path);
  if (!existsSync(file))
    throw new LoadFailure({ file, reason: "There is no such file", cure: "Check the spelling" });
  const { module, files } = await importFile(file, generation);
  if (Object.hasOwn(module, name)) return { value: module[name], file, files };
  const names = Object.keys(module);
  throw new LoadFailure({
    file,
    reason: `It has no export "${name}"${hint(name, names)}`,
    cure: `Name one that it has: ${names.join(", ") || "it exports nothing"}`,
  });
}
