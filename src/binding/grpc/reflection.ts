import type { Json, JsonObject } from "../../lib/json.ts";
import { createCodecs } from "../../protocol/protobuf/codec.ts";
import { createFile, createWellKnownFiles, type ProtobufFile } from "../../protocol/protobuf/descriptor.ts";
import type { ProtobufSchema } from "../../protocol/protobuf/schema.ts";
import type { GrpcCall } from "./call.ts";
import { HEALTH } from "./health.ts";
import type { GrpcMethodParts, ServeGrpcCall } from "./methods.ts";
import { CODES, GrpcError, OK } from "./status.ts";

/** The two packages of the reflection service have the same messages: tools ask for `v1`, older ones for `v1alpha`. */
const createSchema = (version: string): ProtobufSchema => ({
  package: `grpc.reflection.${version}`,
  service: "ServerReflection",
  rpcs: { ServerReflectionInfo: "ServerReflectionRequest: stream ServerReflectionResponse" },
  enums: {},
  messages: {
    ServerReflectionRequest: {
      host: "string 1",
      fileByFilename: "string| 3",
      fileContainingSymbol: "string| 4",
      fileContainingExtension: "ExtensionRequest| 5",
      allExtensionNumbersOfType: "string| 6",
      listServices: "string| 7",
    },
    ExtensionRequest: { containingType: "string 1", extensionNumber: "int32 2" },
    ServerReflectionResponse: {
      validHost: "string 1",
      originalRequest: "ServerReflectionRequest 2",
      fileDescriptorResponse: "FileDescriptorResponse| 4",
      allExtensionNumbersResponse: "ExtensionNumberResponse| 5",
      listServicesResponse: "ListServiceResponse| 6",
      errorResponse: "ErrorResponse| 7",
    },
    FileDescriptorResponse: { fileDescriptorProto: "bytes[] 1" },
    ExtensionNumberResponse: { baseTypeName: "string 1" },
    ListServiceResponse: { service: "ServiceResponse[] 1" },
    ServiceResponse: { name: "string 1" },
    ErrorResponse: { errorCode: "int32 1", errorMessage: "string 2" },
  },
});
const VERSIONS = ["v1", "v1alpha"];

/** A request names one file or one symbol. */
const REQUEST_BYTES_MAX = 4 * 1024;

/** Server reflection: tools such as grpcurl and buf call the services without their definition files. */
export function createReflection(
  schemas: readonly ProtobufSchema[],
  parts: Pick<GrpcMethodParts, "streams" | "limits">,
): ReadonlyMap<string, ServeGrpcCall> {
  const own = VERSIONS.map(createSchema);
  const answer = createAnswers([...schemas, HEALTH], own);
  return new Map(
    own.map(schema => [
      `/${schema.package}.${schema.service}/ServerReflectionInfo`,
      (call: GrpcCall) => serve(call, schema),
    ]),
  );

  async function serve(call: GrpcCall, schema: ProtobufSchema): Promise<void> {
    if (!parts.streams.hasRoom())
      throw new GrpcError("UNAVAILABLE", "Too many streams are open on this server");
    const codecs = createCodecs(schema);
    const request = codecs("ServerReflectionRequest");
    const response = codecs("ServerReflectionResponse");
    call.begin({});
    const limits = { ...parts.limits, bodyBytesMax: REQUEST_BYTES_MAX };
    await parts.streams.count(
      call.readEach(limits, message => call.write(response.encode(answer(decode(request.decode, message))))),
    );
    call.end(OK);
  }
}

function decode(read: (bytes: Uint8Array) => JsonObject, message: Buffer): JsonObject {
  try {
    return read(message);
  } catch {
    throw new GrpcError("INVALID_ARGUMENT", "The message cannot be decoded");
  }
}

/** Made with the first call: most servers are never asked. */
function createAnswers(schemas: readonly ProtobufSchema[], own: readonly ProtobufSchema[]) {
  let files: readonly ProtobufFile[] | undefined;
  const readFiles = (): readonly ProtobufFile[] =>
    (files ??= [
      ...schemas.map(schema => createFile(schema, toFileName(schema))),
      ...own.map(schema => createFile(schema, toFileName(schema), true)),
      ...createWellKnownFiles(),
    ]);
  const services = [...schemas, ...own].map(schema => ({ name: `${schema.package}.${schema.service}` }));

  return (request: JsonObject): Json => {
    const { fileByFilename, fileContainingSymbol, listServices, allExtensionNumbersOfType: type } = request;
    const head = { validHost: request.host ?? "", originalRequest: request };
    if (listServices !== undefined) return { ...head, listServicesResponse: { service: services } };
    const found = readFiles().find(file =>
      fileByFilename !== undefined
        ? file.name === fileByFilename
        : file.symbols.includes(String(fileContainingSymbol ?? type)),
    );
    if (!found) return { ...head, errorResponse: NOT_FOUND };
    if (type !== undefined) return { ...head, allExtensionNumbersResponse: { baseTypeName: type } };
    return { ...head, fileDescriptorResponse: { fileDescriptorProto: [found.bytes.toString("base64")] } };
  };
}

const NOT_FOUND = { errorCode: CODES.NOT_FOUND, errorMessage: "No such file or symbol" };

const toFileName = (schema: ProtobufSchema): string => `${schema.package.replaceAll(".", "/")}.proto`;
