import type { Profile } from "./probe.ts";
import type { Statement, VendorDocument } from "./statement.ts";

/** The tables of docs/dialects/README.md, as cells. */

const statementsOf = ({ sections }: VendorDocument): readonly Statement[] =>
  sections.flatMap(({ statements }) => statements);
const isTried = ([, proof]: Statement): boolean => typeof proof === "function";
const holds =
  (profile: Profile) =>
  ([, , differs]: Statement): boolean =>
    !differs?.profiles.includes(profile);

/** How many statements a document has, how many of them are tried, and how many hold. */
export function countRow(document: VendorDocument): readonly string[] {
  const statements = statementsOf(document);
  const counts = [isTried, holds("on"), holds("strict")].map(one => statements.filter(one).length);
  return [`${document.name} ([${document.page}](${document.page}.md))`, statements.length, ...counts].map(
    String,
  );
}

/** The statements of a document that do not hold. */
export const differenceRows = (document: VendorDocument): readonly (readonly string[])[] =>
  document.sections.flatMap(({ title, statements }) =>
    statements.flatMap(([text, , differs]) => {
      if (!differs) return [];
      const where = differs.profiles.includes("strict") ? "both" : "by default";
      return [[document.name, `${title}: ${text}`, where, differs.reason]];
    }),
  );
