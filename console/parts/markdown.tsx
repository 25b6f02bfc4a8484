import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { visible } from "../lib/format.ts";
import { toBlocks } from "../lib/markdown.ts";
import { isMarkdownCheap } from "../lib/markdown-cost.ts";

/** Agent text as Markdown; huge or deeply nested text as it is. */
export function Markdown({ text, isGrowing }: { readonly text: string; readonly isGrowing?: boolean }) {
  const safe = useMemo(() => visible(text), [text]);
  const blocks = useMemo(() => (isMarkdownCheap(safe) ? toBlocks(safe) : undefined), [safe]);
  if (!blocks) return <LongText text={safe} />;
  return (
    <div class={`prose${isGrowing ? " is-growing" : ""}`} dir="auto">
      {blocks.map((block, at) => (
        <Block key={at} raw={block.raw} html={block.html} />
      ))}
    </div>
  );
}

const PLAIN_MAX = 100_000;

export function LongText({ text }: { readonly text: string }) {
  const cut = text.length > PLAIN_MAX;
  return (
    <div class="prose is-plain" dir="auto">
      {cut ? text.slice(0, PLAIN_MAX) : text}
      {cut && (
        <p class="dim">
          … {text.length - PLAIN_MAX} more characters. Download the artifact to read all of it.
        </p>
      )}
    </div>
  );
}

interface BlockProps {
  readonly raw: string;
  readonly html: () => string;
}

const Block = memo(
  function MarkdownBlock({ html }: BlockProps) {
    // The HTML is sanitised in lib/markdown.ts: DOMPurify returns a TrustedHTML.
    const inner = { __html: html() };
    return <div class="md-block" dangerouslySetInnerHTML={inner} onClick={onBlockClick} />;
  },
  (before, after) => before.raw === after.raw,
);

/** An image of another host is loaded after a click, in a tab of its own: the page itself requests nothing of others. */
function onBlockClick(event: MouseEvent): void {
  const image = (event.target as HTMLElement).closest<HTMLElement>("[data-image]")?.dataset.image;
  if (image && /^https?:/i.test(image)) window.open(image, "_blank", "noopener,noreferrer");
}
