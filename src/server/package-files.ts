/** Files of the package beside the code, at the same relative path from src/ and dist/. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE_FOLDER = resolve(fileURLToPath(new URL("../..", import.meta.url)));

const read = (path: string): string => readFileSync(join(PACKAGE_FOLDER, path), "utf8");

export const readVersion = (): string => (JSON.parse(read("package.json")) as { version: string }).version;

/** The HTML page at /docs of a server without the console. */
export const readDocsPage = (): string => read("web/docs.html");

const DOC_SECTIONS = ["guide", "operate", "reference", "dialects", "decisions"] as const;

/** The documents, as "guide/push.md". */
export const listDocs = (): readonly string[] =>
  DOC_SECTIONS.flatMap(section =>
    readdirSync(new URL(`../../docs/${section}`, import.meta.url))
      .filter(name => name.endsWith(".md"))
      .sort()
      .map(name => `${section}/${name}`),
  );

export const readDoc = (path: string): string => read(`docs/${path}`);
