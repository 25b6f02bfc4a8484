import { Fault } from "../model/index.ts";
import type { AdminRoute } from "./access.ts";
import type { DocPage } from "./api-server.ts";
import { reply } from "./parameters.ts";

export interface DocRouteParts {
  /** The Markdown files of the package, as "guide/push.md". */
  readonly listDocs: () => readonly string[];
  readonly readDoc: (path: string) => string;
}

/** The first page to read is the first of its section. */
const FIRST = "guide/getting-started.md";
const byTitle = (one: DocPage, other: DocPage): number =>
  Number(other.path === FIRST) - Number(one.path === FIRST) || one.title.localeCompare(other.title, "en");

/** The documents of the package. Only files of the list are read. */
export function createDocRoutes({ listDocs, readDoc }: DocRouteParts): readonly AdminRoute[] {
  let pages: readonly DocPage[] | undefined;
  const readPages = (): readonly DocPage[] =>
    (pages ??= listDocs()
      .map(path => ({
        path,
        title: /^# (.+)$/m.exec(readDoc(path))?.[1] ?? path,
        section: path.split("/", 1)[0] as string,
      }))
      .toSorted(byTitle));
  return [
    {
      verb: "GET",
      path: "/docs",
      needs: "read",
      summary: "The documents of this version",
      serve: () => reply({ pages: readPages() }),
    },
    {
      verb: "GET",
      path: "/docs/{section}/{page}",
      needs: "read",
      summary: "One document, in Markdown",
      serve({ vars }) {
        const page = readPages().find(({ path }) => path === `${vars.section}/${vars.page}`);
        if (!page) throw new Fault("task-not-found", "Document not found");
        return {
          status: 200,
          headers: { "Content-Type": "text/markdown; charset=utf-8", "X-Content-Type-Options": "nosniff" },
          text: readDoc(page.path),
        };
      },
    },
  ];
}
