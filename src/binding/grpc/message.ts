import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { GrpcError } from "./status.ts";

/** Before each message: whether it is compressed, and its length. */
const HEAD_BYTES = 5;
const EMPTY = Buffer.alloc(0);

export function toFrameHead(message: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return head;
}

/** Without compression: most messages are short. */
export function toFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

const NO_MESSAGE = new GrpcError("UNIMPLEMENTED", "The call has no message");
const SEVERAL_MESSAGES = new GrpcError("UNIMPLEMENTED", "The call has more than one message");
const INCOMPLETE = new GrpcError("INVALID_ARGUMENT", "The message is incomplete");

/** Assembles the request message of a call from the chunks that arrive. */
export class MessageReader {
  readonly #bytesMax: number;
  /** The bytes so far: the first chunk itself, or a buffer that grows with the chunks. */
  #bytes: Buffer = EMPTY;
  #count = 0;
  /** Bytes of head and message, as soon as the head is there. */
  #expected = HEAD_BYTES;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the error as soon as there is one. */
  add(chunk: Buffer): GrpcError | undefined {
    const before = this.#count;
    this.#count += chunk.length;
    if (before === 0) this.#bytes = chunk;
    else this.#append(chunk, before);
    if (before < HEAD_BYTES && this.#count >= HEAD_BYTES) {
      const length = this.#bytes.readUInt32BE(1);
      if (length > this.#bytesMax) return tooLarge(this.#bytesMax);
      this.#expected = HEAD_BYTES + length;
    }
    return this.#count > this.#expected ? SEVERAL_MESSAGES : undefined;
  }

  /** `encoding`: the compression, if the message is compressed. */
  async finish(encoding: string | undefined): Promise<Buffer> {
    if (this.#count === 0) throw NO_MESSAGE;
    if (this.#count < this.#expected) throw INCOMPLETE;
    const message = this.#bytes.subarray(HEAD_BYTES, this.#count);
    return this.#bytes[0] === 0 ? message : this.#decompress(message, encoding);
  }

  #append(chunk: Buffer, at: number): void {
    if (this.#count > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.#count * 2);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, at);
  }

  async #decompress(message: Buffer, encoding = "identity"): Promise<Buffer> {
    const decompress = DECOMPRESSORS.get(encoding);
    if (!decompress)
      throw new GrpcError("UNIMPLEMENTED", `Unsupported compression (${encoding})`, {
        "grpc-accept-encoding": `identity,${[...DECOMPRESSORS.keys()].join(",")}`,
      });
    try {
      return await decompress(message, { maxOutputLength: this.#bytesMax });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(this.#bytesMax);
      throw new GrpcError("INVALID_ARGUMENT", `The message is not valid ${encoding}`);
    }
  }
}

/** Splits a stream of requests into its messages, which must not be compressed. */
export class FrameSplitter {
  readonly #bytesMax: number;
  #rest: Buffer = EMPTY;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The messages that are complete with this chunk. */
  *add(chunk: Buffer): Generator<Buffer> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + this.#rest.readUInt32BE(1);
      if (end - HEAD_BYTES > this.#bytesMax) throw tooLarge(this.#bytesMax);
      if (this.#rest[0] !== 0)
        throw new GrpcError("UNIMPLEMENTED", "Compressed requests are not supported here");
      if (this.#rest.length < end) return;
      const message = this.#rest.subarray(HEAD_BYTES, end);
      this.#rest = this.#rest.subarray(end);
      yield message;
    }
  }
}

type Decompress = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECOMPRESSORS: ReadonlyMap<string, Decompress> = new Map([
  ["gzip", promisify(gunzip) as Decompress],
  ["deflate", promisify(inflate) as Decompress],
]);

const tooLarge = (bytesMax: number): GrpcError =>
  new GrpcError("RESOURCE_EXHAUSTED", `The message is larger than ${bytesMax} bytes`);
