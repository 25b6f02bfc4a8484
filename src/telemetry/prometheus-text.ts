import type { Meter, Sample } from "./meters.ts";

/** The text format of Prometheus, version 0.0.4. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const toPrometheusText = (meters: readonly Meter[]): string => `${meters.map(toBlock).join("\n\n")}\n`;

function toBlock(meter: Meter): string {
  const { name, help, kind } = meter.facts;
  const lines = meter.samples().map(toLine);
  return [
    `# HELP ${name} ${help.replace(/[\\\n]/g, escapeCharacter)}`,
    `# TYPE ${name} ${kind}`,
    ...lines,
  ].join("\n");
}

function toLine({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(
    ([key, text]) => `${key}="${text.replace(/[\\"\n]/g, escapeCharacter)}"`,
  );
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${toNumber(value)}`;
}

const escapeCharacter = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);

const toNumber = (value: number): string =>
  Number.isNaN(value) ? "NaN" : value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
