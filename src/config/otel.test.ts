import { describe, expect, it } from "vitest";
import { findLangchainSwitches, readOtel } from "./otel.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

describe("where traces go", () => {
  it("nowhere by default", () => {
    expect(readOtel({})).toBeUndefined();
    expect(readOtel({ OTEL_SERVICE_NAME: "x", LANGSMITH_PROJECT: "y" })).toBeUndefined();
    expect(readOtel({ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" })).toBeUndefined();
    expect(readOtel({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" })).toBeUndefined();
    expect(readOtel({ LANGSMITH_API_KEY: "k", LANGSMITH_TRACING: "false" })).toBeUndefined();
  });

  it("below the endpoint of all signals, or to that of traces as it stands", () => {
    expect(readOtel(ENDPOINT)).toEqual({
      url: "http://collector:4318/v1/traces",
      headers: {},
      protocol: "http/protobuf",
      resource: { "service.name": "dragoman" },
      sampler: { kind: "on", ratio: 1, parentBased: true },
      delayMs: 5_000,
      problems: [],
    });
    const specific = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in" };
    expect(readOtel({ ...ENDPOINT, ...specific })?.url).toBe("https://traces.example/in");
    expect(readOtel({ OTEL_TRACES_EXPORTER: "otlp" })?.url).toBe("http://localhost:4318/v1/traces");
  });

  it("to LangSmith with a key, unless a collector is named: its key is nothing for others", () => {
    const key = { LANGSMITH_API_KEY: "k", LANGSMITH_PROJECT: "p" };
    expect(readOtel(key)).toMatchObject({
      url: "https://api.smith.langchain.com/otel/v1/traces",
      headers: { "x-api-key": "k", "Langsmith-Project": "p" },
    });
    const elsewhere = { ...key, LANGSMITH_ENDPOINT: "https://eu.api.smith.langchain.com" };
    expect(readOtel(elsewhere)?.url).toBe("https://eu.api.smith.langchain.com/otel/v1/traces");
    expect(readOtel({ ...key, ...ENDPOINT })).toMatchObject({
      url: "http://collector:4318/v1/traces",
      headers: {},
    });
  });

  it("with headers, a name, attributes and a sampler", () => {
    const read = readOtel({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x, tenant=a=b",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_SERVICE_NAME: "agents",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=prod,service.name=other",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_BSP_SCHEDULE_DELAY: "100",
    });
    expect(read).toMatchObject({
      headers: { authorization: "Bearer x", tenant: "a=b" },
      protocol: "http/json",
      resource: { "service.name": "agents", "deployment.environment": "prod" },
      sampler: { kind: "ratio", ratio: 0.25, parentBased: false },
      delayMs: 100,
      problems: [],
    });
  });

  it("what cannot be done is told, and done without", () => {
    const read = readOtel({
      OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317",
      OTEL_TRACES_EXPORTER: "console",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_RESOURCE_ATTRIBUTES: "nonsense",
      OTEL_TRACES_SAMPLER: "sometimes",
      OTEL_TRACES_SAMPLER_ARG: "2",
      OTEL_BSP_SCHEDULE_DELAY: "soon",
    });
    expect(read).toMatchObject({
      url: undefined,
      protocol: "http/protobuf",
      sampler: { kind: "on", ratio: 1, parentBased: true },
    });
    expect(read?.problems).toHaveLength(7);
  });
});

it("LangChain's own tracer is switched off only where the traces of the server go to LangSmith", () => {
  const switches = { LANGSMITH_TRACING: "true", LANGCHAIN_TRACING_V2: "true", LANGCHAIN_TRACING: "false" };
  const key = { LANGSMITH_API_KEY: "k" };
  expect(findLangchainSwitches({ ...switches, ...key })).toEqual([
    "LANGSMITH_TRACING",
    "LANGCHAIN_TRACING_V2",
  ]);
  expect(findLangchainSwitches(switches)).toEqual([]);
  expect(findLangchainSwitches({ ...switches, ...key, ...ENDPOINT })).toEqual([]);
  expect(findLangchainSwitches({ ...switches, ...key, OTEL_SDK_DISABLED: "true" })).toEqual([]);
});
