import { isUtf8 } from "node:buffer";

/** Wire types: a varint, 8 bytes, length-delimited bytes, a group, 4 bytes. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/** The number of a field and its wire type. */
export const tagOf = (number: number, wireType: number): number => (number << 3) | wireType;

const TWO_32 = 2 ** 32;

/** Reads untrusted bytes; anything invalid throws a `RangeError`. */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #at = 0;
  #end: number;
  /** Levels that may still be entered. */
  #depthLeft: number;

  constructor(bytes: Uint8Array, depthMax: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.length;
    this.#depthLeft = depthMax;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** Reads a length and limits reading to that many bytes; `leave` takes the returned end. */
  enter(): number {
    const length = this.#length();
    const end = this.#end;
    if (--this.#depthLeft < 0) throw new RangeError("Nested too deeply");
    this.#end = this.#at + length;
    return end;
  }

  leave(end: number): void {
    this.#end = end;
    this.#depthLeft += 1;
  }

  tag(): number {
    const tag = this.int32() >>> 0;
    if (tag >>> 3 === 0) throw new RangeError("Field number 0");
    return tag;
  }

  /** The lower 32 bits of a varint. */
  int32(): number {
    let low = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      if (shift < 32) low |= (byte & 127) << shift;
      if (byte < 128) return low;
    }
    throw new RangeError("Varint too long");
  }

  /** Exact up to 2^53. */
  int64(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) return (high | 0) * TWO_32 + (low >>> 0);
    }
    throw new RangeError("Varint too long");
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  double(): number {
    this.#require(8);
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  string(): string {
    const [from, to] = this.#span();
    const text = this.#bytes.toString("utf8", from, to);
    // Invalid UTF-8 decodes to U+FFFD: only then the bytes are checked.
    if (text.includes("\ufffd") && !isUtf8(this.#bytes.subarray(from, to)))
      throw new RangeError("Invalid UTF-8");
    return text;
  }

  base64(): string {
    const [from, to] = this.#span();
    return this.#bytes.toString("base64", from, to);
  }

  /** Skips the value of an unknown field. */
  skip(tag: number): void {
    const wireType = tag & 7;
    if (wireType === VARINT) this.int32();
    else if (wireType === FIXED64) this.#advance(8);
    else if (wireType === BYTES) this.#advance(this.#length());
    else if (wireType === FIXED32) this.#advance(4);
    else if (wireType === GROUP) this.#skipGroup(tag >>> 3);
    else throw new RangeError("Invalid wire type");
  }

  #skipGroup(number: number): void {
    if (--this.#depthLeft < 0) throw new RangeError("Nested too deeply");
    const end = tagOf(number, GROUP_END) >>> 0;
    for (let tag = this.tag(); tag !== end; tag = this.tag()) this.skip(tag);
    this.#depthLeft += 1;
  }

  #span(): readonly [from: number, to: number] {
    const length = this.#length();
    const from = this.#at;
    this.#at += length;
    return [from, this.#at];
  }

  #length(): number {
    const length = this.int32();
    if (length < 0) throw new RangeError("Invalid length");
    this.#require(length);
    return length;
  }

  #advance(count: number): void {
    this.#require(count);
    this.#at += count;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new RangeError("Unexpected end");
    return this.#bytes[this.#at++] as number;
  }

  #require(count: number): void {
    if (this.#at + count > this.#end) throw new RangeError("Unexpected end");
  }
}
