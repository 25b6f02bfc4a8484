import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { GrpcRefusal } from "./status.ts";

/** Before each message: whether it is compressed, and how long it is. */
const HEAD_BYTES = 5;
const EMPTY = Buffer.alloc(0);

export function headOf(message: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return head;
}

/** Without a compression of its own: what is said here is short, or there is a proxy that knows better. */
export function toFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

const NONE = new GrpcRefusal("UNIMPLEMENTED", "The call brought no message");
const TOO_MANY = new GrpcRefusal("UNIMPLEMENTED", "The call brought more than one message");
const CUT = new GrpcRefusal("INVALID_ARGUMENT", "The message broke off before its end");

/** Puts together the one message that a call brings, from the pieces that it comes in. */
export class MessageReader {
  readonly #bytesMax: number;
  /** What has come, at its beginning: one piece as it is, or several in a buffer that grows with them. */
  #bytes: Buffer = EMPTY;
  #count = 0;
  /** Of head and message, as soon as the head is there. */
  #expected = HEAD_BYTES;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Says why the message is refused, as soon as that is clear. */
  add(piece: Buffer): GrpcRefusal | undefined {
    const before = this.#count;
    this.#count += piece.length;
    if (before === 0) this.#bytes = piece;
    else this.#append(piece, before);
    if (before < HEAD_BYTES && this.#count >= HEAD_BYTES) {
      const length = this.#bytes.readUInt32BE(1);
      if (length > this.#bytesMax) return tooLarge(this.#bytesMax);
      this.#expected = HEAD_BYTES + length;
    }
    return this.#count > this.#expected ? TOO_MANY : undefined;
  }

  /** `encoding`: how it is compressed, if it says that it is. */
  async finish(encoding: string | undefined): Promise<Buffer> {
    if (this.#count === 0) throw NONE;
    if (this.#count < this.#expected) throw CUT;
    const message = this.#bytes.subarray(HEAD_BYTES, this.#count);
    return this.#bytes[0] === 0 ? message : this.#unpack(message, encoding);
  }

  #append(piece: Buffer, at: number): void {
    if (this.#count > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.#count * 2);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, at);
  }

  async #unpack(message: Buffer, encoding = "identity"): Promise<Buffer> {
    const unpack = UNPACKERS.get(encoding);
    if (!unpack)
      throw new GrpcRefusal(
        "UNIMPLEMENTED",
        `The message is compressed in a way that is not known here (${encoding})`,
        {
          "grpc-accept-encoding": `identity,${[...UNPACKERS.keys()].join(",")}`,
        },
      );
    try {
      return await unpack(message, { maxOutputLength: this.#bytesMax });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(this.#bytesMax);
      throw new GrpcRefusal("INVALID_ARGUMENT", `The message is not compressed as it says (${encoding})`);
    }
  }
}

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const UNPACKERS: ReadonlyMap<string, Unpack> = new Map([
  ["gzip", promisify(gunzip) as Unpack],
  ["deflate", promisify(inflate) as Unpack],
]);

const tooLarge = (bytesMax: number): GrpcRefusal =>
  new GrpcRefusal("RESOURCE_EXHAUSTED", `The message is larger than ${bytesMax} bytes`);
