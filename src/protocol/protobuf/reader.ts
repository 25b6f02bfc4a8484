import { isUtf8 } from "node:buffer";

/** How a value stands on the wire: a number of any length, 8 bytes, a length and as many bytes, 4 bytes. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/** What stands before a value: which field it is of, and how it stands there. */
export const tagOf = (number: number, wire: number): number => (number << 3) | wire;

const TWO_32 = 2 ** 32;

/** Reads what somebody else has written: nothing in it is believed. What cannot be read is a `RangeError`. */
export class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  #end: number;
  /** Levels that may still be entered. */
  #levels: number;

  constructor(bytes: Uint8Array, levels: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.length;
    this.#levels = levels;
  }

  get isOver(): boolean {
    return this.#at >= this.#end;
  }

  /** What is read from here on ends where the length that comes first says; `leave` must be told what this tells. */
  enter(): number {
    const length = this.#length();
    const outer = this.#end;
    if (--this.#levels < 0) throw new RangeError("too deep");
    this.#end = this.#at + length;
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
    this.#levels += 1;
  }

  /** What comes next: the number of its field, and how it stands here. */
  tag(): number {
    const tag = this.int32() >>> 0;
    if (tag >>> 3 === 0) throw new RangeError("no field has the number 0");
    return tag;
  }

  /** The lower half of a number of any length. */
  int32(): number {
    let low = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      if (shift < 32) low |= (byte & 127) << shift;
      if (byte < 128) return low;
    }
    throw new RangeError("a number that does not end");
  }

  /** As exact as a double is. */
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
    throw new RangeError("a number that does not end");
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  double(): number {
    this.#need(8);
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  text(): string {
    const [from, to] = this.#span();
    const text = this.#bytes.toString("utf8", from, to);
    // Only who has read the sign for what cannot be read needs to look whether it was meant.
    if (text.includes("\ufffd") && !isUtf8(this.#bytes.subarray(from, to)))
      throw new RangeError("a text that is not UTF-8");
    return text;
  }

  base64(): string {
    const [from, to] = this.#span();
    return this.#bytes.toString("base64", from, to);
  }

  /** What nobody here knows. */
  skip(tag: number): void {
    const wire = tag & 7;
    if (wire === VARINT) this.int32();
    else if (wire === FIXED64) this.#pass(8);
    else if (wire === BYTES) this.#pass(this.#length());
    else if (wire === FIXED32) this.#pass(4);
    else if (wire === GROUP) this.#skipGroup(tag >>> 3);
    else throw new RangeError("nothing stands on the wire like this");
  }

  #skipGroup(number: number): void {
    if (--this.#levels < 0) throw new RangeError("too deep");
    const end = tagOf(number, GROUP_END) >>> 0;
    for (let tag = this.tag(); tag !== end; tag = this.tag()) this.skip(tag);
    this.#levels += 1;
  }

  #span(): readonly [from: number, to: number] {
    const length = this.#length();
    const from = this.#at;
    this.#at += length;
    return [from, this.#at];
  }

  #length(): number {
    const length = this.int32();
    if (length < 0) throw new RangeError("too long");
    this.#need(length);
    return length;
  }

  #pass(count: number): void {
    this.#need(count);
    this.#at += count;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new RangeError("it ends too early");
    return this.#bytes[this.#at++] as number;
  }

  #need(count: number): void {
    if (this.#at + count > this.#end) throw new RangeError("it ends too early");
  }
}
