import { DOCUMENTS, documentOf, headingsOf, rowsOf, slugOf } from "./tidy-docs.ts";
import type { TreeFile } from "./tidy-tree.ts";

/**
 * Citations of docs/dialects in comments and in the corpus: a page, then headings and numbered statements of that page.
 *
 *     docs/dialects/v03.md#streams, #errors
 *     docs/dialects/README.md B-M1, R5
 */
const CITATION = /docs\/dialects\/(\w+)\.md((?:,? ?(?:#[a-z0-9-]+|(?:B-[A-Z]|[RDLOAS])\d{1,2}\b))*)/g;
const REFERENCE = /#[a-z0-9-]+|(?:B-[A-Z]|[RDLOAS])\d{1,2}/g;

const STATEMENT = /(?:B-[A-Z]|[RDLOAS])\d{1,2}/g;

/** Citations whose page, heading or number does not exist. */
export function brokenCitations({ path, text }: TreeFile): readonly string[] {
  return [...text.matchAll(CITATION)].flatMap(([citation, page, references = ""]) => {
    // A placeholder in an instruction.
    if (page === "NAME") return [];
    const targets = targetsOf(`docs/dialects/${page}.md`);
    if (!targets) return [`${path}: ${citation}`];
    return (references.match(REFERENCE) ?? [])
      .filter(reference => !targets.has(reference))
      .map(reference => `${path}: docs/dialects/${page}.md ${reference}`);
  });
}

const cache = new Map<string, ReadonlySet<string>>();

function targetsOf(page: string): ReadonlySet<string> | undefined {
  const known = cache.get(page);
  const file = DOCUMENTS.find(one => one.path === page);
  if (known || !file) return known;
  const targets = new Set([...headingsOf(file).map(heading => `#${slugOf(heading)}`), ...statementsOf(page)]);
  cache.set(page, targets);
  return targets;
}

/** The numbers of the statements on a page. */
export const statementsOf = (page: string): readonly string[] =>
  rowsOf(documentOf(page).text)
    .map(([number]) => number as string)
    .filter(number => /^(?:B-[A-Z]|[RDLOAS])\d{1,2}$/.test(number));

/** The statements that tests prove: in the titles of tests (`"B-M1: …"`) and in the heads of exchanges. */
export function provedIn({ path, text }: TreeFile): readonly string[] {
  if (path.endsWith(".test.ts"))
    return (text.match(/["`](?:(?:B-[A-Z]|[RDLOAS])\d{1,2}(?:, )?)+(?=:)/g) ?? []).flatMap(
      title => title.match(STATEMENT) ?? [],
    );
  const head = path.endsWith(".exchange") ? (text.match(/^# .*/gm) ?? []) : [];
  return head.flatMap(line =>
    [...line.matchAll(CITATION)].flatMap(([, , references]) => references?.match(STATEMENT) ?? []),
  );
}
