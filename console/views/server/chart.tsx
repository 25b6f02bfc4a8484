import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { clock, count, duration } from "../../lib/format.ts";
import { theme } from "../../lib/theme.ts";

export interface Series {
  readonly label: string;
  /** A token: `--working`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly kind?: "line" | "bars";
  readonly isDashed?: boolean;
}

/** The value of a colour token now: a canvas knows no custom properties. */
function colorOf(element: HTMLElement, token: string): string {
  element.style.color = `var(${token})`;
  const color = getComputedStyle(element).color;
  element.style.color = "";
  return color;
}

/** A chart over time; uPlot is loaded with the first one. The table below it is for screen readers. */
export function Chart({
  label,
  times,
  series,
  unit,
}: {
  readonly label: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = [times.map(at => at / 1000), ...series.map(one => one.values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const shape = series.map(one => one.label).join();
  useEffect(() => {
    let isOpen = true;
    const observer = new ResizeObserver(() => {
      const width = box.current?.clientWidth ?? 0;
      if (plot.current && width > 0) plot.current.setSize({ width, height: 184 });
    });
    void Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]).then(([{ default: Plot }]) => {
      const element = box.current;
      if (!isOpen || !element) return;
      element.replaceChildren();
      plot.current = new Plot(optionsOf(Plot, element, series, unit), latest.current, element);
      observer.observe(element);
    });
    return () => {
      isOpen = false;
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [theme.value, shape]);
  useEffect(() => plot.current?.setData(data), [times]);
  return (
    <figure class="chart-wrap">
      <div class="chart" ref={box} aria-hidden="true" />
      <table class="sr">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(one => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.slice(-12).map((at, row) => (
            <tr key={at}>
              <td>{new Date(at).toLocaleTimeString()}</td>
              {series.map(one => (
                <td key={one.label}>
                  {one.values.slice(-12)[row] ?? "–"} {unit}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

const timeLabel = (seconds: number, stepS: number): string =>
  clock(seconds * 1000).slice(0, stepS < 60 ? 8 : 5);
const valueLabel = (value: number, unit: string): string =>
  unit === "ms" && value >= 10 ? duration(value) : `${count(value)}${unit && ` ${unit}`}`;

function optionsOf(
  Plot: typeof uPlot,
  element: HTMLElement,
  series: readonly Series[],
  unit: string,
): uPlot.Options {
  const text = colorOf(element, "--text-3");
  const grid = { stroke: colorOf(element, "--line-soft"), width: 1 };
  const axis = { stroke: text, grid, ticks: { show: false }, font: "11px system-ui" };
  const bars = Plot.paths.bars?.({ size: [0.8, 14] });
  return {
    width: Math.max(200, element.clientWidth),
    height: 184,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(max * 1.15, 1)] } },
    axes: [
      { ...axis, space: 70, values: (_, all, __, ___, stepS) => all.map(at => timeLabel(at, stepS)) },
      { ...axis, size: 56, values: (_, all) => all.map(value => valueLabel(value, unit)) },
    ],
    series: [
      {},
      ...series.map((one): uPlot.Series => {
        const stroke = colorOf(element, one.color);
        return {
          label: one.label,
          stroke,
          width: 1.75,
          points: { show: false },
          ...(one.kind === "bars" && bars && { paths: bars, fill: stroke, width: 0 }),
          ...(one.isDashed && { dash: [4, 3] }),
        };
      }),
    ],
  };
}

/** A small line without axes. */
export function Spark({ values, look }: { readonly values: readonly number[]; readonly look: string }) {
  const max = Math.max(1, ...values);
  const points = values.map(
    (value, at) =>
      `${((at / Math.max(1, values.length - 1)) * 100).toFixed(2)},${(38 - (value / max) * 32).toFixed(2)}`,
  );
  if (points.length < 2) return <svg class={`is-${look}`} aria-hidden="true" />;
  return (
    <svg class={`is-${look}`} viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
      <polygon class="spark-a" points={`0,40 ${points.join(" ")} 100,40`} />
      <polyline class="spark-l" points={points.join(" ")} />
    </svg>
  );
}
