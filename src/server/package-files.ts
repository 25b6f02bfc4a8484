/** Files of the package beside the code, at the same relative path from src/ and dist/. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE_FOLDER = resolve(fileURLToPath(new URL("../..", import.meta.url)));

const read = (path: string): string => readFileSync(join(PACKAGE_FOLDER, path), "utf8");

export const readVersion = (): string => (JSON.parse(read("package.json")) as { version: string }).version;

/** The HTML page at /docs. */
export const readDocsPage = (): string => read("web/docs.html");
