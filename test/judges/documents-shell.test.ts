/** The commands of all pages are executed, in the order in which a reader types them. */
import { afterAll, beforeAll, it } from "vitest";
import { createReader, type Reader, SHELL_PAGES } from "../support/documents/pages.ts";

/** A page may have 20 commands, and npx takes two seconds for each of them; five pages are followed at once. */
const FOLLOW_MS = 900_000;

let reader: Reader;
beforeAll(async () => {
  reader = await createReader();
});
afterAll(() => reader.close());

it.concurrent.each(SHELL_PAGES)("%s can be followed", path => reader.follow(path), FOLLOW_MS);
