import { mediaTypeOf, type Part, textOf } from "../model/index.ts";
import type { FileDetails, MessageContent, MessageItem } from "./api.ts";
import type { RemoteTask } from "./types.ts";

/** The content of messages, to and from the values of browsers. */

export const toParts = (content: MessageContent): Promise<readonly Part[]> =>
  Promise.all((Array.isArray(content) ? content : [content as MessageItem]).map(toPart));

async function toPart(item: MessageItem): Promise<Part> {
  if (typeof item === "string") return { kind: "text", text: item };
  if (item instanceof Blob) {
    const { name, type } = item as Blob & { readonly name?: string };
    const bytes = toBase64(new Uint8Array(await item.arrayBuffer()));
    return { kind: "bytes", bytes, ...toDetails({ filename: name, mediaType: type }) };
  }
  if ("kind" in item) return item;
  if ("data" in item) return { kind: "data", data: item.data };
  if ("url" in item) return { kind: "url", url: item.url, ...toDetails(item) };
  return { kind: "bytes", bytes: toBase64(item.bytes), ...toDetails(item) };
}

const toDetails = ({ filename, mediaType }: FileDetails): Pick<Part, "filename" | "mediaType"> => ({
  ...(filename && { filename }),
  ...(mediaType && { mediaType }),
});

/** Arguments of one call are limited in number. */
const CHUNK = 0x8000;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}

/** The content of a part that is not a link, with its media type. A link is fetched by its `url`. */
export function toBlob(part: Exclude<Part, { readonly kind: "url" }>): Blob {
  const type = mediaTypeOf(part);
  if (part.kind === "bytes")
    return new Blob([Uint8Array.from(atob(part.bytes), char => char.charCodeAt(0))], { type });
  return new Blob([part.kind === "text" ? part.text : JSON.stringify(part.data)], { type });
}

/** The text of the artifacts, or of the last message if they have none. */
export const replyText = ({ artifacts, message }: Pick<RemoteTask, "artifacts" | "message">): string =>
  artifacts.map(({ parts }) => textOf(parts)).join("") || textOf(message?.parts ?? []);
