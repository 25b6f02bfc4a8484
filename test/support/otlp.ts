/**
 * A parser of OTLP, in both of its forms, written from its definition:
 * opentelemetry/proto/trace/v1/trace.proto.
 */

export type Value = string | number | boolean | readonly Value[];
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly string[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0: unset; 1: OK; 2: an error. */
  readonly status: number;
  /** The resource attributes of the server that sent it. */
  readonly resource: Readonly<Record<string, Value>>;
}

// ---- JSON ----------------------------------------------------------------------------------------------------

interface JsonValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly JsonValue[] };
}
interface JsonPair {
  readonly key: string;
  readonly value: JsonValue;
}

interface JsonSpan extends Pick<ReceivedSpan, "traceId" | "spanId" | "name" | "kind"> {
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly JsonPair[];
  readonly events?: readonly { readonly name: string }[];
  readonly links?: ReceivedSpan["links"];
  readonly status?: { readonly code?: number };
}
export interface JsonExport {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly JsonPair[] };
    readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[];
  }[];
}

export const readJson = (body: JsonExport): readonly ReceivedSpan[] =>
  (body.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map(span => fromJson(span, pairs(resource?.attributes)))),
  );

const fromJson = (span: JsonSpan, resource: ReceivedSpan["resource"]): ReceivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? "",
  name: span.name,
  kind: span.kind,
  startMs: toMs(span.startTimeUnixNano),
  endMs: toMs(span.endTimeUnixNano),
  attributes: pairs(span.attributes),
  events: (span.events ?? []).map(({ name }) => name),
  links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
  status: span.status?.code ?? 0,
  resource,
});

const toMs = (nanos: string): number => Number(BigInt(nanos) / 1_000_000n);

const pairs = (list: readonly JsonPair[] = []): Record<string, Value> =>
  Object.fromEntries(list.map(({ key, value }) => [key, plain(value)]));

function plain(value: JsonValue): Value {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plain);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue ?? "";
}

// ---- Protocol Buffers ----------------------------------------------------------------------------------------

/** The fields of a message by their numbers: numbers for varints, bytes for everything else. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

function readFields(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (size: number): Buffer => {
    at += size;
    return bytes.subarray(at - size, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    const value =
      wire === 0 ? varint() : wire === 1 ? take(8) : wire === 5 ? take(4) : take(Number(varint()));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const all = (fields: Fields, number: number): readonly Buffer[] => (fields.get(number) ?? []) as Buffer[];
const bytesAt = (fields: Fields, number: number): Buffer => all(fields, number)[0] ?? Buffer.alloc(0);
const textAt = (fields: Fields, number: number): string => bytesAt(fields, number).toString("utf8");
const hexAt = (fields: Fields, number: number): string => bytesAt(fields, number).toString("hex");
const numberAt = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0n);
const msAt = (fields: Fields, number: number): number =>
  Number(bytesAt(fields, number).readBigUInt64LE() / 1_000_000n);

export const readProtobuf = (bytes: Buffer): readonly ReceivedSpan[] =>
  all(readFields(bytes), 1).flatMap(sent => {
    const fields = readFields(sent);
    const resource = readPairs(all(readFields(bytesAt(fields, 1)), 1));
    return all(fields, 2).flatMap(scope =>
      all(readFields(scope), 2).map(span => fromProtobuf(span, resource)),
    );
  });

function fromProtobuf(bytes: Buffer, resource: ReceivedSpan["resource"]): ReceivedSpan {
  const span = readFields(bytes);
  return {
    traceId: hexAt(span, 1),
    spanId: hexAt(span, 2),
    parentSpanId: hexAt(span, 4),
    name: textAt(span, 5),
    kind: numberAt(span, 6),
    startMs: msAt(span, 7),
    endMs: msAt(span, 8),
    attributes: readPairs(all(span, 9)),
    events: all(span, 11).map(event => textAt(readFields(event), 2)),
    links: all(span, 13).map(link => ({
      traceId: hexAt(readFields(link), 1),
      spanId: hexAt(readFields(link), 2),
    })),
    status: numberAt(readFields(bytesAt(span, 15)), 3),
    resource,
  };
}

const readPairs = (list: readonly Buffer[]): Record<string, Value> =>
  Object.fromEntries(
    list.map(pair => {
      const fields = readFields(pair);
      return [textAt(fields, 1), readValue(bytesAt(fields, 2))];
    }),
  );

function readValue(bytes: Buffer): Value {
  const fields = readFields(bytes);
  if (fields.has(2)) return numberAt(fields, 2) === 1;
  if (fields.has(3)) return numberAt(fields, 3);
  if (fields.has(4)) return bytesAt(fields, 4).readDoubleLE();
  if (fields.has(5)) return all(readFields(bytesAt(fields, 5)), 1).map(readValue);
  return textAt(fields, 1);
}
