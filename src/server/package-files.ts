/** What lies beside the code in the package: at the same distance from src/ and from dist/. */
import { readFileSync } from "node:fs";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

export const readVersion = (): string => (JSON.parse(read("package.json")) as { version: string }).version;

/** The page for people at /docs. */
export const readDocsPage = (): string => read("web/docs.html");
