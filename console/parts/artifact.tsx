import { useEffect, useMemo, useState } from "preact/hooks";
import { mediaTypeOf, type Part } from "../../src/model/message.ts";
import { parseCsv } from "../lib/csv.ts";
import { bytesOf, fileName, type Preview, previewOf, sizeOf } from "../lib/files.ts";
import { bytes, oneLine, visible } from "../lib/format.ts";
import { save } from "../lib/save.ts";
import type { Piece } from "../lib/task-log.ts";
import { Button, copy, Icon, Tabs } from "./basics.tsx";
import { Json } from "./json.tsx";
import { LongText, Markdown } from "./markdown.tsx";

const ICONS: Readonly<Record<Preview, string>> = {
  markdown: "text",
  text: "text",
  json: "braces",
  table: "table",
  image: "image",
  audio: "file",
  video: "file",
  link: "link",
  none: "file",
};
const PREVIEW_BYTES_MAX = 20_000_000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isFlat = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Whether a table shows the data better than a tree. */
function shapeOf(data: unknown): "pairs" | "rows" | "tree" {
  if (isRecord(data)) {
    const values = Object.values(data);
    return values.length > 0 && values.length <= 40 && values.every(isFlat) ? "pairs" : "tree";
  }
  const isTable =
    Array.isArray(data) &&
    data.length > 0 &&
    data
      .slice(0, 20)
      .every(row => isRecord(row) && Object.keys(row).length <= 20 && Object.values(row).every(isFlat));
  return isTable ? "rows" : "tree";
}

const cellText = (value: unknown): string =>
  oneLine(value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value), 200);

function DataTable({
  rows,
  columns,
}: {
  readonly rows: readonly (readonly unknown[])[];
  readonly columns: readonly string[];
}) {
  const shown = rows.slice(0, 100);
  return (
    <div class="scroll art-scroll" tabIndex={0} role="group" aria-label="Table">
      <table class="table">
        <thead>
          <tr>
            {columns.map((name, at) => (
              <th key={at} scope="col">
                {oneLine(name, 60)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <tr key={at}>
              {columns.map((_, column) => (
                <td key={column}>{cellText(row[column])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <p class="art-more dim">{rows.length - shown.length} more rows. Download the file to see them.</p>
      )}
    </div>
  );
}

function DataPreview({ data }: { readonly data: unknown }) {
  const shape = shapeOf(data);
  if (shape === "pairs")
    return (
      <dl class="kv">
        {Object.entries(data as Record<string, unknown>).map(([name, value]) => [
          <dt key={`k${name}`}>{oneLine(name, 60)}</dt>,
          <dd key={`v${name}`} dir="auto">
            {cellText(value)}
          </dd>,
        ])}
      </dl>
    );
  const rows = data as readonly Record<string, unknown>[];
  const columns = [...new Set(rows.slice(0, 100).flatMap(row => Object.keys(row)))].slice(0, 20);
  return <DataTable columns={columns} rows={rows.map(row => columns.map(name => row[name]))} />;
}

/** A blob URL while the component is shown. */
function useBlobUrl(part: Part, isShown: boolean): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!isShown) return;
    const made = URL.createObjectURL(new Blob([bytesOf(part)], { type: mediaTypeOf(part) }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [part, isShown]);
  return url;
}

function Media({ part, kind, name }: { readonly part: Part; readonly kind: Preview; readonly name: string }) {
  const url = useBlobUrl(part, true);
  if (!url) return null;
  if (kind === "image") return <img class="art-image" src={url} alt={visible(name)} />;
  // biome-ignore lint/a11y/useMediaCaption: captions are not known for files of agents.
  if (kind === "audio") return <audio class="art-audio" controls src={url} aria-label={visible(name)} />;
  // biome-ignore lint/a11y/useMediaCaption: captions are not known for files of agents.
  return <video class="art-image" controls src={url} aria-label={visible(name)} />;
}

const decodeText = (part: Part): string =>
  part.kind === "text" ? part.text : new TextDecoder().decode(bytesOf(part));

function FilePreview({ part, name }: { readonly part: Part; readonly name: string }) {
  const kind = previewOf(part);
  const text = useMemo(
    () =>
      kind === "table" || kind === "text" || kind === "json" || kind === "markdown" ? decodeText(part) : "",
    [part, kind],
  );
  if (sizeOf(part) > PREVIEW_BYTES_MAX)
    return <p class="art-more dim">Too large for a preview. Download the file.</p>;
  if (kind === "table") {
    const rows = parseCsv(text, mediaTypeOf(part).includes("tab") ? "\t" : ",", 500);
    return <DataTable columns={rows[0] ?? []} rows={rows.slice(1)} />;
  }
  if (kind === "markdown")
    return (
      <div class="art-text">
        <Markdown text={text} />
      </div>
    );
  if (kind === "image" || kind === "audio" || kind === "video")
    return <Media part={part} kind={kind} name={name} />;
  if (kind === "json") {
    try {
      return <Json value={JSON.parse(text)} />;
    } catch {
      return (
        <div class="art-text">
          <LongText text={visible(text)} />
        </div>
      );
    }
  }
  if (kind === "text")
    return (
      <pre class="code art-code" dir="auto">
        {visible(text.slice(0, 20_000))}
        {text.length > 20_000 && "\n… Download the file to read all of it."}
      </pre>
    );
  return null;
}

/** A file or data with its head: what it is, how it is shown, copy and download. */
export function PartFrame({
  part,
  name,
  isMine,
}: {
  readonly part: Part;
  readonly name: string;
  readonly isMine?: boolean;
}) {
  const kind = previewOf(part);
  const title = part.filename ?? name;
  const data = part.kind === "data" ? part.data : undefined;
  const hasTable = part.kind === "data" && shapeOf(data) !== "tree";
  const [form, setForm] = useState("table");
  const type =
    part.kind === "data" ? "JSON" : (part.mediaType ?? (part.kind === "url" ? "link" : mediaTypeOf(part)));
  return (
    <figure class={`art${isMine ? " is-mine" : ""}`}>
      <figcaption class="art-head">
        <Icon name={ICONS[kind]} />
        <h2 class="cut">{oneLine(title, 80)}</h2>
        <span class="dim">
          {oneLine(type, 40)}
          {part.kind !== "url" && `, ${bytes(sizeOf(part))}`}
        </span>
        <span class="grow" />
        {hasTable && (
          <Tabs
            segmented
            label={`Form of ${title}`}
            items={[
              { id: "table", label: "Table" },
              { id: "json", label: "JSON" },
            ]}
            chosen={form}
            onChoose={setForm}
          />
        )}
        {part.kind !== "bytes" && (
          <Button
            kind="ghost"
            small
            icon="copy"
            name={`Copy ${title}`}
            onClick={() => copy(part.kind === "url" ? part.url : new TextDecoder().decode(bytesOf(part)))}
          />
        )}
        {part.kind !== "url" && (
          <Button
            kind="ghost"
            small
            icon="download"
            name={`Download ${title}`}
            onClick={() => save(fileName(part, title), bytesOf(part), mediaTypeOf(part))}
          />
        )}
      </figcaption>
      {part.kind === "url" ? (
        <FarFile url={part.url} />
      ) : part.kind === "data" ? (
        hasTable && form === "table" ? (
          <DataPreview data={data} />
        ) : (
          <Json value={data} />
        )
      ) : (
        <FilePreview part={part} name={title} />
      )}
    </figure>
  );
}

/** A file on another host: it is opened by a click only, so that its host does not learn who reads. */
function FarFile({ url }: { readonly url: string }) {
  const isWeb = /^https?:\/\//i.test(url);
  return (
    <p class="art-more">
      <span class="mono art-url">{visible(url.slice(0, 500))}</span>{" "}
      {isWeb && (
        <a class="link" href={url} target="_blank" rel="noopener noreferrer">
          Open on its host
        </a>
      )}
    </p>
  );
}

/** Text of an artifact is what the agent says; everything else has a frame. */
export function PieceView({ piece }: { readonly piece: Piece }) {
  const isPlainName = !piece.name || /^(?:response|reply|result|answer|message|output)$/i.test(piece.name);
  return (
    <>
      {!isPlainName && piece.parts.some(part => part.kind === "text" && previewOf(part) === "markdown") && (
        <p class="piece-name dim">{oneLine(piece.name ?? "", 80)}</p>
      )}
      {piece.parts.map((part, at) =>
        part.kind === "text" && previewOf(part) === "markdown" && !part.filename ? (
          <Markdown key={at} text={part.text} isGrowing={piece.isGrowing && at === piece.parts.length - 1} />
        ) : (
          <PartFrame key={at} part={part} name={piece.name ?? piece.artifactId} />
        ),
      )}
    </>
  );
}
