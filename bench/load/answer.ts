/** One HTTP response, parsed as it arrives: with Content-Length or chunked, in any segmentation. */
export interface Answer {
  status: number;
  /** Bytes as Latin-1: the bench searches for ASCII only, and this decoding is nearly free. */
  body: string;
  complete: boolean;
}

export interface AnswerReader {
  readonly answer: Answer;
  feed(text: string): void;
}

const HEAD_END = "\r\n\r\n";
const LINE_END = "\r\n";
/** A head or a chunk size longer than this is no response of a server under test. */
const HEAD_CHARS_MAX = 64 * 1024;

export function createAnswerReader(): AnswerReader {
  const answer: Answer = { status: 0, body: "", complete: false };
  let rest = "";
  let take: (text: string) => string = takeHead;

  function feed(text: string): void {
    if (answer.complete) throw new Error("bytes after the end of a response");
    rest = rest === "" ? text : rest + text;
    for (let before = -1; rest.length !== before && !answer.complete; ) {
      before = rest.length;
      rest = take(rest);
    }
  }

  function takeHead(text: string): string {
    const end = text.indexOf(HEAD_END);
    if (end < 0 && text.length > HEAD_CHARS_MAX) throw new Error("the head of a response does not end");
    if (end < 0) return text;
    const head = text.slice(0, end).toLowerCase();
    answer.status = Number(head.slice(9, 12));
    take = head.includes("transfer-encoding: chunked") ? takeChunkSize : takeBytes(readLength(head), finish);
    return text.slice(end + HEAD_END.length);
  }

  function takeChunkSize(text: string): string {
    const end = text.indexOf(LINE_END);
    if (end < 0) return text;
    const size = Number.parseInt(text.slice(0, end), 16);
    if (Number.isNaN(size)) throw new Error("a chunk without a size");
    take = size === 0 ? takeTrailer : takeBytes(size, () => (take = takeChunkEnd));
    return text.slice(end + LINE_END.length);
  }

  function takeBytes(bytes: number, then: () => void): (text: string) => string {
    let missing = bytes;
    return text => {
      const piece = text.length > missing ? text.slice(0, missing) : text;
      answer.body += piece;
      missing -= piece.length;
      if (missing === 0) then();
      return text.slice(piece.length);
    };
  }

  function takeChunkEnd(text: string): string {
    if (text.length < LINE_END.length) return text;
    take = takeChunkSize;
    return text.slice(LINE_END.length);
  }

  function takeTrailer(text: string): string {
    if (!text.startsWith(LINE_END)) return text;
    finish();
    return text.slice(LINE_END.length);
  }

  function finish(): void {
    answer.complete = true;
  }

  return { answer, feed };
}

function readLength(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/.exec(head);
  if (length === null) throw new Error("a response with neither Content-Length nor chunks");
  return Number(length[1]);
}
