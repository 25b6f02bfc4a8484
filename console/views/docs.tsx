import { useEffect, useMemo, useState } from "preact/hooks";
import type { DocPage } from "../../src/admin/api-server.ts";
import { adminPath, readAdmin } from "../lib/admin.ts";
import { reasonOf, request } from "../lib/api.ts";
import { useCrumbs } from "../lib/crumbs.ts";
import { plainLine } from "../lib/format.ts";
import { toDocument } from "../lib/markdown.ts";
import { href, inQuery, place, setQuery } from "../lib/router.ts";
import { Bones, Empty, Icon, Note, Search } from "../parts/basics.tsx";
import { Reference, SPECS, type Spec } from "./reference.tsx";

const SECTIONS: readonly (readonly [string, string])[] = [
  ["guide", "Guides"],
  ["operate", "Operation"],
  ["reference", "Reference"],
  ["dialects", "Dialects"],
  ["decisions", "Decisions"],
];

/** The text of every page, read once for the search. */
const texts = new Map<string, Promise<string>>();
const pathOf = (page: string): string => page.split("/").map(encodeURIComponent).join("/");

function readPage(page: string): Promise<string> {
  const known = texts.get(page);
  if (known) return known;
  const read = request(adminPath(`docs/${pathOf(page)}`)).then(response => response.text());
  texts.set(page, read);
  read.catch(() => texts.delete(page));
  return read;
}

/** `../guide/push.md#x` on the page `operate/a.md` is the page `guide/push.md`; files beyond the documents have no page. */
function linkFrom(page: string, pages: readonly DocPage[]): (link: string) => string {
  return link => {
    if (/^[a-z]+:/i.test(link)) return link;
    const url = new URL(link, `http://docs.invalid/docs/${page}`);
    const path = url.pathname.replace(/^\/docs\//, "");
    if (link.startsWith("#")) return `${href(["docs", ...page.split("/")])}${url.hash}`;
    return pages.some(one => one.path === path) ? `${href(["docs", ...path.split("/")])}${url.hash}` : "";
  };
}

/** Guides before decisions, as in the list of pages. */
const bySection = (one: DocPage, other: DocPage): number => sectionAt(one) - sectionAt(other);
const sectionAt = ({ section }: DocPage): number => SECTIONS.findIndex(([name]) => name === section);

interface Hit {
  readonly page: DocPage;
  readonly line: string;
}

function useHits(pages: readonly DocPage[] | undefined, find: string): readonly Hit[] {
  const [hits, setHits] = useState<readonly Hit[]>([]);
  useEffect(() => {
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    if (!pages || words.length === 0) {
      setHits([]);
      return;
    }
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const titled: Hit[] = [];
      const found: Hit[] = [];
      for (const page of pages.toSorted(bySection)) {
        const text = await readPage(page.path).catch(() => "");
        if (!isCurrent) return;
        const isTitle = words.every(word => page.title.toLowerCase().includes(word));
        const line =
          text.split("\n").find(one => words.every(word => one.toLowerCase().includes(word))) ??
          (words.every(word => text.toLowerCase().includes(word))
            ? (text.split("\n").find(one => one.toLowerCase().includes(words[0] ?? "")) ?? "")
            : undefined);
        if (isTitle) titled.push({ page, line: line ?? "" });
        else if (line !== undefined) found.push({ page, line });
      }
      setHits([...titled, ...found]);
    }, 150);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [pages, find]);
  return hits;
}

export function Docs() {
  const [, ...below] = place.value.path;
  const page = below.join("/");
  const [pages, setPages] = useState<readonly DocPage[]>();
  const [problem, setProblem] = useState("");
  const find = inQuery("find");
  useEffect(() => {
    readAdmin<{ pages: readonly DocPage[] }>("docs").then(
      read => setPages(read.pages),
      error => setProblem(reasonOf(error)),
    );
  }, []);
  const hits = useHits(pages, find);
  // On a narrow page the list is above the document, and folded.
  const [isListOpen, setListOpen] = useState(false);
  useEffect(() => setListOpen(false), [page]);
  const spec = SPECS.find(one => one.id === page) ?? (page === "" ? SPECS[0] : undefined);
  const current = pages?.find(one => one.path === page);
  useCrumbs(
    { label: "Docs", href: href(["docs"]) },
    ...(page === "" ? [] : [spec?.title ?? current?.title ?? page]),
  );
  return (
    <div class="docs">
      <nav class="docs-nav scroll" aria-label="Documents">
        <Search
          label="Search the documents"
          placeholder="Search guides and calls"
          value={find}
          onInput={value => setQuery({ find: value })}
        />
        <button
          class="btn docs-all only-narrow"
          type="button"
          aria-expanded={isListOpen}
          onClick={() => setListOpen(!isListOpen)}
        >
          <Icon name="docs" />
          <span class="cut">{isListOpen ? "Hide the pages" : "All pages"}</span>
        </button>
        <div class={`docs-list${isListOpen ? " is-open" : ""}`}>
          <DocsList pages={pages} page={page} find={find} />
        </div>
      </nav>
      <div class="docs-body">
        {problem && <Note>{problem}</Note>}
        {find && !spec ? (
          <Hits hits={hits} find={find} />
        ) : spec ? (
          <SpecPage spec={spec} find={find} hits={hits} />
        ) : current && pages ? (
          <Page key={page} page={page} pages={pages} />
        ) : pages ? (
          <Empty icon="docs" title="Page not found">
            <p>The documents of this version have no page {page}.</p>
          </Empty>
        ) : (
          !problem && <Bones />
        )}
      </div>
    </div>
  );
}

function DocsList({
  pages,
  page,
  find,
}: {
  readonly pages: readonly DocPage[] | undefined;
  readonly page: string;
  readonly find: string;
}) {
  const link = (path: string, title: string, isCurrent: boolean) => (
    <a
      key={path}
      class="doc-link cut"
      href={href(["docs", ...path.split("/")], { find: "" })}
      aria-current={isCurrent ? "page" : undefined}
    >
      {title}
    </a>
  );
  return (
    <>
      <h2>API</h2>
      {SPECS.map(one => link(one.id, one.title, page === one.id || (page === "" && one === SPECS[0])))}
      {SECTIONS.map(([section, title]) => {
        const own = pages?.filter(one => one.section === section) ?? [];
        return (
          own.length > 0 && (
            <section key={section} aria-label={title}>
              {section === "decisions" ? (
                <details open={find !== "" || page.startsWith("decisions/")}>
                  <summary>{title}</summary>
                  {own.map(one => link(one.path, one.title, one.path === page))}
                </details>
              ) : (
                <>
                  <h2>{title}</h2>
                  {own.map(one => link(one.path, one.title, one.path === page))}
                </>
              )}
            </section>
          )
        );
      })}
    </>
  );
}

function Hits({ hits, find }: { readonly hits: readonly Hit[]; readonly find: string }) {
  return (
    <section class="doc-hits" aria-label="Results" aria-live="polite">
      <p class="muted">{foundWords(hits.length, find)}</p>
      <HitList hits={hits} />
    </section>
  );
}

const foundWords = (total: number, find: string): string =>
  total === 0
    ? `No page contains “${find}”.`
    : `${total} ${total === 1 ? "page contains" : "pages contain"} “${find}”`;

function HitList({ hits }: { readonly hits: readonly Hit[] }) {
  return (
    <>
      {hits.map(({ page, line }) => (
        <a key={page.path} class="doc-hit" href={href(["docs", ...page.path.split("/")])}>
          <b>{page.title}</b> <span class="dim">{page.path}</span>
          <span class="muted cut">{plainLine(line.replaceAll("|", " "), 200)}</span>
        </a>
      ))}
    </>
  );
}

function SpecPage({
  spec,
  find,
  hits,
}: {
  readonly spec: Spec;
  readonly find: string;
  readonly hits: readonly Hit[];
}) {
  return (
    <>
      {find && hits.length > 0 && (
        <details class="card doc-found" open>
          <summary>{foundWords(hits.length, find)}</summary>
          <HitList hits={hits} />
        </details>
      )}
      <Reference key={spec.id} spec={spec} find={find} />
    </>
  );
}

function Page({ page, pages }: { readonly page: string; readonly pages: readonly DocPage[] }) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isCurrent = true;
    readPage(page).then(
      read => isCurrent && setText(read),
      error => isCurrent && setProblem(reasonOf(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [page]);
  const html = useMemo(
    () => (text === undefined ? "" : toDocument(text, linkFrom(page, pages))),
    [text, page, pages],
  );
  useEffect(() => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (html)
      (id ? document.getElementById(id) : document.getElementById("main"))?.scrollIntoView({
        block: "start",
      });
  }, [html, place.value]);
  if (problem) return <Note>{problem}</Note>;
  if (text === undefined) return <Bones />;
  // The document is part of this package, and is sanitised like everything else.
  const inner = { __html: html };
  return (
    <article class="prose doc-page">
      <p class="doc-path dim">
        <Icon name="docs" /> docs/{page}
      </p>
      <div dangerouslySetInnerHTML={inner} />
    </article>
  );
}
