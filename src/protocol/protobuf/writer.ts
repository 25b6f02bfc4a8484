const START_BYTES = 4 * 1024;
/** A buffer that grew larger than this for one message is released. */
const REUSED_BYTES_MAX = 256 * 1024;
/** Strings whose length in bytes surely fits into a varint of one byte: at most 3 bytes per UTF-16 unit. */
const SHORT_CHARS = 42;

/** Writes messages, one after the other, into a buffer that it reuses. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(START_BYTES);
  #at = 0;

  /** A copy of the bytes written since the last `take` or `reset`. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.reset();
    return taken;
  }

  reset(): void {
    this.#at = 0;
    if (this.#bytes.length > REUSED_BYTES_MAX) this.#bytes = Buffer.allocUnsafe(START_BYTES);
  }

  /** A non-negative integer. */
  varint(value: number): void {
    this.#ensure(10);
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest % 128) | 128;
    this.#bytes[this.#at++] = rest;
  }

  /** An integer; a negative one takes 10 bytes, as 64 bits. */
  int(value: number): void {
    if (value >= 0) return this.varint(value);
    this.#ensure(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 127n) | 128;
    this.#bytes[this.#at++] = Number(rest);
  }

  double(value: number): void {
    this.#ensure(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** A lone surrogate becomes U+FFFD. */
  string(value: string): void {
    if (value.length <= SHORT_CHARS) {
      this.#ensure(1 + value.length * 3);
      const count = this.#bytes.write(value, this.#at + 1, "utf8");
      this.#bytes[this.#at] = count;
      this.#at += 1 + count;
      return;
    }
    const count = Buffer.byteLength(value);
    this.varint(count);
    this.#ensure(count);
    this.#at += this.#bytes.write(value, this.#at, "utf8");
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.#ensure(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Begins a length-delimited value; `leave` takes the returned start. */
  enter(): number {
    this.#ensure(1);
    return ++this.#at;
  }

  /** One byte was reserved for the length: the value moves if the length needs more. */
  leave(start: number): void {
    const count = this.#at - start;
    if (count > 127) {
      let more = 0;
      for (let rest = count; rest > 127; rest = Math.floor(rest / 128)) more += 1;
      this.#ensure(more);
      this.#bytes.copyWithin(start + more, start, this.#at);
    }
    this.#at = start - 1;
    this.varint(count);
    this.#at += count;
  }

  #ensure(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + count));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
