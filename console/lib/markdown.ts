import createDOMPurify from "dompurify";
import { Marked, type Token, type TokensList } from "marked";

/**
 * Markdown of agents is hostile input: raw HTML is text, links are http(s) or mailto, images are never loaded by
 * themselves (a request tells the sender who reads), and the result is cleaned once more by DOMPurify, which also makes
 * it a TrustedHTML (policy `dompurify`).
 */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, one => `&#${one.charCodeAt(0)};`);

const SAFE_LINK = /^(?:https?:|mailto:)/i;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      return SAFE_LINK.test(href) ? `<a href="${escapeHtml(href)}">${inner}</a>` : inner;
    },
    image: ({ href, text }) =>
      `<span class="far-image" data-image="${SAFE_LINK.test(href) ? escapeHtml(href) : ""}">${escapeHtml(text || "image")}</span>`,
    code: ({ text, lang }) =>
      `<pre class="code is-round" tabindex="0"><code data-lang="${escapeHtml(lang ?? "")}">${escapeHtml(text)}</code></pre>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

const purify = createDOMPurify(window);
purify.addHook("afterSanitizeAttributes", node => {
  if (node.tagName !== "A" || !SAFE_LINK.test(node.getAttribute("href") ?? "")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

const ALLOWED = {
  ALLOWED_TAGS: [
    "p",
    "br",
    "strong",
    "em",
    "del",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "span",
  ],
  ALLOWED_ATTR: ["href", "class", "data-image", "data-lang", "align", "start", "tabindex"],
  ALLOW_DATA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
};

export interface Block {
  readonly raw: string;
  readonly html: () => string;
}

/** The blocks of a text: while it grows, only the last ones change. */
export function toBlocks(text: string): readonly Block[] {
  const tokens = marked.lexer(text);
  return tokens
    .filter(token => token.type !== "space" && token.type !== "def")
    .map(token => ({ raw: token.raw, html: () => toHtml([token], tokens.links) }));
}

function toHtml(tokens: Token[], links: TokensList["links"]): string {
  const html = marked.parser(Object.assign(tokens, { links }));
  return purify.sanitize(html, ALLOWED) as unknown as string;
}

/** The id of a heading, as links in the documents spell it. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/<[^>]+>|[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

/** A document of this package: links between pages stay in the console, headings have ids. */
export function toDocument(text: string, toLink: (href: string) => string): string {
  const documents = new Marked({
    gfm: true,
    renderer: {
      html: ({ text: raw }) => escapeHtml(raw),
      heading({ tokens, depth, text: title }) {
        return `<h${depth} id="${escapeHtml(slugOf(title))}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(toLink(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image: ({ text: alt }) => escapeHtml(alt),
      code: ({ text: code }) =>
        `<pre class="code is-round" tabindex="0"><code>${escapeHtml(code)}</code></pre>`,
    },
  });
  const html = documents.parse(text, { async: false });
  const allowed = { ...ALLOWED, ALLOWED_ATTR: [...ALLOWED.ALLOWED_ATTR, "id"] };
  return purify.sanitize(html, allowed) as unknown as string;
}
