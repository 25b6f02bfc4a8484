/** The commands of all pages are executed, in the order in which a reader types them. */
import { afterAll, beforeAll, it } from "vitest";
import { createReader, type Reader, SHELL_PAGES } from "../support/documents/pages.ts";

let reader: Reader;
beforeAll(async () => {
  reader = await createReader();
});
afterAll(() => reader.close());

it.concurrent.each(SHELL_PAGES)("%s can be followed", path => reader.follow(path));
