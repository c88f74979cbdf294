/**
 * The heatmap's drawing: fill = bending, mark = precision, and a pattern for every state that is not a number (ux.md 3.1).
 * SVG only; focus, names and gestures belong to the DOM grid that lies above it at the same places (ui/grid).
 */
import { memo } from 'react';
import { significant } from '../../base/units';
import type { HeatLayout } from './heat-layout';
import { angleColour, inkOn, type ColourMap } from './scales';

/** Letters a cell can carry: B = BF16 (solid border), 8 = an 8-bit format (two bars), 6 = a 6-bit one (one bar), 4 = a 4-bit one (none). */
export type Mark = 'B' | '8' | '6' | '4';

export interface HeatCell {
  readonly id: string;
  readonly row: number;
  readonly column: number;
  /** Across all columns: an op group outside the layers. */
  readonly wide: boolean;
  /** `value`: angleDeg is drawn, a negative one without colour; the others have a pattern and a sign of their own. */
  readonly state: 'value' | 'missing' | 'failed' | 'measuring';
  readonly angleDeg: number | null;
  readonly mark: Mark;
  /** What the plan under the hand would make of it, if that differs. */
  readonly ghost: Mark | null;
  readonly locked: boolean;
  readonly belowNoise: boolean;
  /** Came with the app, not measured on this GPU. */
  readonly stored: boolean;
  /** Outside the legend's handles. */
  readonly dimmed: boolean;
}

export interface HeatmapProps {
  readonly layout: HeatLayout;
  readonly cells: readonly HeatCell[];
  readonly colourMap: ColourMap;
}

/** Text of a cell's angle: three characters at most, so that it fits 40 px; a negative one has its sign besides. */
export function cellFigure(angleDeg: number): string {
  if (angleDeg < 0) return `−${cellFigure(-angleDeg)}`;
  return angleDeg >= 9.95 ? significant(angleDeg, 2) : angleDeg >= 0.995 ? angleDeg.toFixed(1) : angleDeg >= 0.00995 ? angleDeg.toFixed(2).replace(/^0/, '') : '0';
}

/** The cell's piece of the STORED EXAMPLE ribbon, in the ink that its fill takes. */
function storedPattern(ink: '#000000' | '#ffffff'): string {
  return `heat-stored-${ink.slice(1, 4)}`;
}

const BARS: Readonly<Record<Mark, number>> = { B: 0, 8: 2, 6: 1, 4: 0 };
const SIGNS = { missing: '??', failed: '!!', measuring: '>>' } as const;

export const Heatmap = memo(function Heatmap({ layout, cells, colourMap }: HeatmapProps) {
  return (
    <svg className="heatmap" width={layout.right} height={layout.bottom} aria-hidden="true">
      <defs>
        <pattern id="heat-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1="0" y1="0" x2="0" y2="5" stroke="#000" strokeWidth="1.6" />
          <line x1="1.6" y1="0" x2="1.6" y2="5" stroke="#fff" strokeWidth="1" />
        </pattern>
        <pattern id="heat-missing" width="6" height="6" patternUnits="userSpaceOnUse">
          <circle className="heat-dot" cx="1.5" cy="1.5" r="0.8" />
        </pattern>
        <pattern id="heat-failed" width="7" height="7" patternUnits="userSpaceOnUse">
          <path className="heat-cross" d="M0 0L7 7M7 0L0 7" />
        </pattern>
        {(['#000000', '#ffffff'] as const).map((ink) => (
          <pattern key={ink} id={storedPattern(ink)} width="6" height="3" patternUnits="userSpaceOnUse" patternTransform="skewX(-45)">
            <rect width="3" height="3" fill={ink} />
          </pattern>
        ))}
      </defs>
      {cells.map((cell) => (
        <Cell key={cell.id} cell={cell} layout={layout} colourMap={colourMap} />
      ))}
    </svg>
  );
});

const Cell = memo(function Cell({ cell, layout, colourMap }: { readonly cell: HeatCell; readonly layout: HeatLayout; readonly colourMap: ColourMap }) {
  const x = layout.columnX(cell.column) + 0.5;
  const y = (layout.rowY[cell.row] ?? 0) + 0.5;
  const w = (cell.wide ? layout.right - layout.columnX(cell.column) : layout.cellWidth) - 1.5;
  const h = layout.cellHeight - 1.5;
  const middle = y + h / 2 + 4;
  const hasValue = cell.angleDeg !== null;
  const fill = cell.angleDeg !== null && cell.angleDeg >= 0 ? angleColour(colourMap, cell.angleDeg) : null;
  const ink = fill === null ? undefined : inkOn(fill);
  const roomy = w >= 50;
  // Patterns leave the mark's place free.
  const aside = roomy ? 30 : 0;
  const bars = BARS[cell.mark];
  const sign = cell.state === 'value' ? null : SIGNS[cell.state];
  return (
    <g opacity={cell.dimmed ? 0.22 : 1}>
      {fill !== null ? <rect x={x} y={y} width={w} height={h} rx="2" fill={fill} /> : <rect x={x} y={y} width={w} height={h} rx="2" className={hasValue ? 'heat-empty heat-negative' : 'heat-empty'} />}
      {cell.state === 'failed' ? <rect x={x + aside} y={y} width={w - aside} height={h} fill="url(#heat-failed)" /> : null}
      {!hasValue && cell.state !== 'failed' ? <rect x={x + aside} y={y} width={w - aside} height={h} fill="url(#heat-missing)" /> : null}
      {cell.belowNoise && hasValue ? <rect x={x + aside} y={y} width={w - aside} height={h} fill="url(#heat-hatch)" opacity="0.55" /> : null}
      {cell.stored && ink !== undefined ? <rect x={x + 1} y={y + h - 2.5} width={w - 2} height="2.5" fill={`url(#${storedPattern(ink)})`} opacity="0.6" /> : null}
      {bars > 0 && roomy ? <path d={Array.from({ length: bars }, (_, i) => `M${x + 2 + 2 * i} ${y + 2.5}v${h - 5}`).join('')} strokeWidth="0.8" stroke={ink} className={fill === null ? 'heat-border' : undefined} /> : null}
      {cell.mark === 'B' ? <rect x={x + 2.5} y={y + 2.5} width={w - 5} height={h - 5} rx="1" fill="none" strokeWidth="1.6" stroke={ink} className={fill === null ? 'heat-border' : undefined} /> : null}
      <MarkLetter mark={cell.mark} x={x + (roomy ? 5 : w / 2 - 7)} y={y + h / 2 - 7.5} ink={ink} />
      {cell.ghost !== null ? (
        <>
          <rect x={x + 0.5} y={y + 0.5} width={w - 1} height={h - 1} rx="2" className="heat-ghost" />
          {roomy ? <GhostLetter mark={cell.ghost} x={x + 24} y={middle} fill={fill} ink={ink} width={w - 28} /> : null}
        </>
      ) : sign !== null ? (
        <SignText sign={sign} x={roomy ? x + 24 + (w - 26) / 2 : x + w / 2} y={middle} width={Math.min(24, w)} />
      ) : roomy && hasValue ? (
        <text x={cell.wide ? x + w / 2 : x + w - 6} y={middle} className={ink === undefined ? 'heat-figure heat-plain' : 'heat-figure'} textAnchor={cell.wide ? 'middle' : 'end'} fill={ink} stroke={cell.belowNoise ? (fill ?? 'var(--bg)') : undefined} strokeWidth={cell.belowNoise ? 4 : undefined} paintOrder="stroke">
          {cellFigure(cell.angleDeg ?? 0)}
        </text>
      ) : null}
      {cell.locked ? <circle cx={roomy ? x + 25 : x + w - 4} cy={roomy ? y + h / 2 : y + 4.5} r="2.8" className="heat-lock" /> : null}
    </g>
  );
});

function MarkLetter({ mark, x, y, ink }: { readonly mark: Mark; readonly x: number; readonly y: number; readonly ink: string | undefined }) {
  if (mark !== 'B') return <text x={x + 7} y={y + 11.5} textAnchor="middle" className={ink === undefined ? 'heat-mark heat-plain' : 'heat-mark'} fill={ink}>{mark}</text>;
  return (
    <>
      <rect x={x} y={y} width="14" height="15" rx="2" fill={ink === '#000000' ? '#000000' : '#ffffff'} className={ink === undefined ? 'heat-badge' : undefined} />
      <text x={x + 7} y={y + 11.5} textAnchor="middle" className={`heat-mark heat-mark-high${ink === undefined ? ' heat-badge-ink' : ''}`} fill={ink === '#000000' ? '#ffffff' : '#000000'}>B</text>
    </>
  );
}

function GhostLetter({ mark, x, y, fill, ink, width }: { readonly mark: Mark; readonly x: number; readonly y: number; readonly fill: string | null; readonly ink: string | undefined; readonly width: number }) {
  return (
    <text x={x + width / 2} y={y} textAnchor="middle" className={ink === undefined ? 'heat-ghost-letter heat-plain' : 'heat-ghost-letter'} fill={ink} stroke={fill ?? undefined} strokeWidth="3" paintOrder="stroke">
      {`→ ${mark}`}
    </text>
  );
}

function SignText({ sign, x, y, width }: { readonly sign: string; readonly x: number; readonly y: number; readonly width: number }) {
  const moving = sign === SIGNS.measuring;
  return (
    <>
      <rect x={x - width / 2} y={y - 12} width={width} height="16" rx="2" className={`heat-sign-back${moving ? ' pulse' : ''}`} />
      <text x={x} y={y} textAnchor="middle" className="heat-sign">{sign}</text>
    </>
  );
}
