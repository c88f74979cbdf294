/**
 * The legend, which is also the histogram of the cells: bars above the ramp, one count a bin, and a tick for each noise
 * floor. Fixed domain (scales.ts), so that it never rescales by itself.
 */
import { formatDegrees } from '../../base/units';
import { ANGLE_DOMAIN, angleColour, logHistogram, logPosition, logValue, tickLabel, type ColourMap } from './scales';

export interface LegendProps {
  readonly width: number;
  readonly anglesDeg: readonly number[];
  readonly floorForwardDeg: number | null;
  readonly floorBackwardDeg: number | null;
  /** Cells outside are dimmed. */
  readonly range: readonly [number, number];
  /** The hovered or focused cell's angle, marked on the ramp. */
  readonly currentDeg: number | null;
  readonly colourMap: ColourMap;
}

const BINS = 40;
const BAR_HEIGHT = 26;
const RAMP_HEIGHT = 10;
export const LEGEND_HEIGHT = BAR_HEIGHT + RAMP_HEIGHT + 24;
/** Room for the words `noise floor` right of the ramp's start. */
const WORDS_WIDTH = 62;
const TICKS = [0.01, 0.1, 1, 10, 90];

export function HeatLegend({ width, anglesDeg, floorForwardDeg, floorBackwardDeg, range, currentDeg, colourMap }: LegendProps) {
  const bins = logHistogram(anglesDeg, ANGLE_DOMAIN, BINS);
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  const at = (deg: number): number => logPosition(deg, ANGLE_DOMAIN) * width;
  const step = width / BINS;
  const inside = (deg: number): boolean => deg >= range[0] && deg <= range[1];
  return (
    <svg className="legend" width={width} height={LEGEND_HEIGHT} aria-hidden="true" overflow="visible">
      {bins.map((bin, i) => {
        const height = bin.count === 0 ? 0 : 3 + ((BAR_HEIGHT - 3) * bin.count) / most;
        const mid = logValue((i + 0.5) / BINS, ANGLE_DOMAIN);
        return (
          <g key={bin.low} opacity={inside(mid) ? 1 : 0.25}>
            <rect x={i * step + 0.5} y={BAR_HEIGHT - height} width={step - 1} height={height} className="legend-bar" />
            <rect x={i * step} y={BAR_HEIGHT + 1} width={step + 0.5} height={RAMP_HEIGHT} fill={angleColour(colourMap, mid)} />
          </g>
        );
      })}
      <line x1="0" x2={width} y1={BAR_HEIGHT + 0.5} y2={BAR_HEIGHT + 0.5} className="axis-line" />
      {TICKS.map((deg, i) => (
        <g key={deg}>
          <line x1={at(deg)} x2={at(deg)} y1={BAR_HEIGHT + RAMP_HEIGHT + 1} y2={BAR_HEIGHT + RAMP_HEIGHT + 5} className="axis-line" />
          <text x={at(deg)} y={BAR_HEIGHT + RAMP_HEIGHT + 17} className="axis-text" textAnchor={i === 0 ? 'start' : i === TICKS.length - 1 ? 'end' : 'middle'}>
            {i === TICKS.length - 1 ? `${tickLabel(deg)} deg` : tickLabel(deg)}
          </text>
        </g>
      ))}
      {floorForwardDeg !== null && floorForwardDeg > 0 ? <FloorTick x={at(floorForwardDeg)} label="fw" side="start" title={floorTitle('forward pass', floorForwardDeg)} /> : null}
      {floorBackwardDeg !== null && floorBackwardDeg > 0 ? <FloorTick x={at(floorBackwardDeg)} label="bw" words side="end" title={floorTitle('backward pass', floorBackwardDeg)} /> : null}
      {currentDeg !== null ? <path className="legend-current" d={`M${at(currentDeg)} ${BAR_HEIGHT + 1}l-4 -7h8z`} /> : null}
    </svg>
  );
}

function floorTitle(pass: string, deg: number): string {
  return `Noise floor of the ${pass}: ${formatDegrees(deg)}. A cell below it bends less than the probe can tell.`;
}

function FloorTick({ x, label, side, title, words = false }: { readonly x: number; readonly label: string; readonly side: 'start' | 'end'; readonly title: string; readonly words?: boolean }) {
  return (
    <g>
      <title>{title}</title>
      <line x1={x} x2={x} y1="4" y2={BAR_HEIGHT + RAMP_HEIGHT + 1} className="floor-line" />
      <text x={side === 'start' ? x + 3 : x - 3} y="10" textAnchor={side} className="axis-text floor-text">{label}</text>
      {words ? <text x={Math.max(x - 3, WORDS_WIDTH)} y="22" textAnchor="end" className="axis-text floor-text">noise floor</text> : null}
    </g>
  );
}
