/** Files of the package beside the code, at the same relative path from src/ and dist/. */
import { readFileSync } from "node:fs";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

export const readVersion = (): string => (JSON.parse(read("package.json")) as { version: string }).version;

/** The HTML page at /docs. */
export const readDocsPage = (): string => read("web/docs.html");
