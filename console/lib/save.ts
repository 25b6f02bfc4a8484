/** A file of an agent may claim any type: a page is never opened from it, only saved. */
export function save(name: string, bytes: BlobPart, mediaType = "application/octet-stream"): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[\\/:*?"<>|\p{Cc}\p{Cf}]/gu, "_") || "file";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
