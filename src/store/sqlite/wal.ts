/** Checks a write-ahead log before SQLite opens it: SQLite reads the frames before the first bad one and ignores the rest. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** https://www.sqlite.org/fileformat2.html#walformat; the last bit is set if checksums use big-endian words. */
const MAGIC = 0x377f0682;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const FRAMES_PER_READ = 256;
/** The unit that disks write atomically. */
const SECTOR_BYTES = 512;

export interface WalState {
  /** Differ between generations of the log. */
  readonly salts: string;
  /** Frames of this generation, as far as they can be identified. */
  readonly frames: number;
  /** The frames before the first bad one. */
  readonly readable: number;
  /** Committed frames are lost. An incomplete last frame was never committed, and is no damage. */
  readonly damaged: boolean;
}

const EMPTY: WalState = { salts: "", frames: 0, readable: 0, damaged: false };

/** undefined: the write-ahead log is not damaged. A server may be writing to it. */
export function findWalDamage(database: string): WalState | undefined {
  const first = readWal(database);
  if (!first.damaged) return undefined;
  // Frames that a running server is writing are incomplete at the first check and complete at the second.
  const second = readWal(database);
  return second.damaged && second.salts === first.salts && second.readable === first.readable
    ? second
    : undefined;
}

export function readWal(database: string): WalState {
  let handle: number;
  try {
    handle = openSync(`${database}-wal`, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
    throw error;
  }
  try {
    return readFrames(handle, fstatSync(handle).size);
  } finally {
    closeSync(handle);
  }
}

function readFrames(handle: number, size: number): WalState {
  const header = Buffer.allocUnsafeSlow(HEADER_BYTES);
  if (size < HEADER_BYTES || readSync(handle, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return EMPTY;
  const pageBytes = header.readUInt32BE(8);
  const sum = new Checksum(header.readUInt32BE(0) === MAGIC + 1);
  const isOurs = (header.readUInt32BE(0) & ~1) === MAGIC && isPageSize(pageBytes);
  const salts: Salts = [header.readUInt32BE(16), header.readUInt32BE(20)];
  const stored: Salts = [header.readUInt32BE(24), header.readUInt32BE(28)];
  if (!isOurs || !sum.add(header.subarray(0, HEADER_BYTES - 8)).is(stored)) {
    // SQLite would treat the whole log as empty. A log of zeros is empty.
    const frames = Math.floor((size - HEADER_BYTES) / (FRAME_HEADER_BYTES + 4096));
    return { salts: salts.join(), frames, readable: 0, damaged: !isZero(handle, size) };
  }
  return scan(handle, size, pageBytes, salts, sum);
}

type Salts = readonly [number, number];

function scan(handle: number, size: number, pageBytes: number, salts: Salts, sum: Checksum): WalState {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const frameCount = Math.floor((size - HEADER_BYTES) / frameBytes);
  let readable = 0;
  let isBroken = false;
  let [last, lastCommit, hasTail] = [-1, -1, false];
  for (let at = 0; at < frameCount; at += FRAMES_PER_READ) {
    const count = Math.min(FRAMES_PER_READ, frameCount - at);
    const chunk = Buffer.allocUnsafeSlow(count * frameBytes);
    if (readSync(handle, chunk, 0, chunk.length, HEADER_BYTES + at * frameBytes) < chunk.length) break;
    for (let i = 0; i < count; i++) {
      const frame = chunk.subarray(i * frameBytes, (i + 1) * frameBytes);
      const found: Salts = [frame.readUInt32BE(8), frame.readUInt32BE(12)];
      // A frame of an earlier generation has neither salt; a damaged frame of this one may still have one.
      if (found[0] === salts[0] || found[1] === salts[1]) {
        last = at + i;
        hasTail = frame.subarray(-SECTOR_BYTES).some(byte => byte !== 0);
        if (frame.readUInt32BE(4) !== 0) lastCommit = last;
      }
      if (isBroken) continue;
      isBroken = found[0] !== salts[0] || found[1] !== salts[1] || !isValidFrame(frame, sum);
      if (!isBroken) readable += 1;
    }
  }
  // Frames are written in order, and the last frame of a commit is marked: a commit that ends after a bad frame proves
  // that the frame was good when it was written. The last frame of the file counts if it was written to its end.
  const isLastComplete = lastCommit === frameCount - 1 && (size - HEADER_BYTES) % frameBytes === 0;
  const damaged = lastCommit > readable || (lastCommit === readable && isLastComplete && hasTail);
  return { salts: salts.join(), frames: last + 1, readable, damaged };
}

const isPageSize = (bytes: number): boolean => bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;

function isValidFrame(frame: Buffer, sum: Checksum): boolean {
  const stored: Salts = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
  return sum.add(frame.subarray(0, 8)).add(frame.subarray(FRAME_HEADER_BYTES)).is(stored);
}

function isZero(handle: number, size: number): boolean {
  const chunk = Buffer.allocUnsafeSlow(1024 * 1024);
  for (let at = 0; at < size; at += chunk.length) {
    const count = readSync(handle, chunk, 0, chunk.length, at);
    if (chunk.subarray(0, count).some(byte => byte !== 0)) return false;
  }
  return true;
}

/** Cumulative, from the beginning of the log. */
class Checksum {
  readonly #big: boolean;
  #one = 0;
  #two = 0;

  constructor(big: boolean) {
    this.#big = big;
  }

  add(bytes: Buffer): this {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const little = !this.#big;
    let [one, two] = [this.#one, this.#two];
    for (let at = 0; at < bytes.length; at += 8) {
      one = (one + view.getInt32(at, little) + two) | 0;
      two = (two + view.getInt32(at + 4, little) + one) | 0;
    }
    this.#one = one;
    this.#two = two;
    return this;
  }

  is([one, two]: Salts): boolean {
    return this.#one >>> 0 === one && this.#two >>> 0 === two;
  }
}
