/** One cell of the heatmap: fill, borders and letter of its precision, patterns of its state, its figure, dot and triangle. */
import { significant } from '../../base/units';
import type { HeatCell, Mark } from './heatmap';
import type { Box } from './label-places';
import { angleColour, inkOn, type ColourMap } from './scales';

/** Text of a cell's angle: three characters at most, so that it fits 40 px; a negative one has its sign besides. */
export function cellFigure(angleDeg: number): string {
  if (angleDeg < 0) return `−${cellFigure(-angleDeg)}`;
  return angleDeg >= 9.95 ? significant(angleDeg, 2) : angleDeg >= 0.995 ? angleDeg.toFixed(1) : angleDeg >= 0.00995 ? angleDeg.toFixed(2).replace(/^0/, '') : '0';
}

type Ink = '#000000' | '#ffffff';

/** The cell's piece of the STORED EXAMPLE ribbon, in the ink that its fill takes. */
export function storedPattern(ink: Ink): string {
  return `heat-stored-${ink.slice(1, 4)}`;
}

/** Cells at least so wide carry letter and figure side by side. */
const ROOMY = 50;
const SIGNS = { missing: '??', failed: '!!', measuring: '>>' } as const;

export function HeatCellShape({ cell, box: { x, y, width: w, height: h }, colourMap }: { readonly cell: HeatCell; readonly box: Box; readonly colourMap: ColourMap }) {
  const middle = y + h / 2 + 4;
  const hasValue = cell.angleDeg !== null;
  const fill = cell.angleDeg !== null && cell.angleDeg >= 0 ? angleColour(colourMap, cell.angleDeg) : null;
  const ink = fill === null ? undefined : inkOn(fill);
  const roomy = w >= ROOMY;
  // Patterns leave the mark's place free.
  const aside = roomy ? 30 : 0;
  const sign = cell.state !== 'value' ? SIGNS[cell.state] : cell.unpredicted === true ? SIGNS.missing : null;
  const dots = { x: roomy ? x + 25 : x + w - 4, y: roomy ? y + h / 2 : y + 4.5 };
  return (
    <g opacity={cell.dimmed ? 0.22 : undefined}>
      {fill !== null ? <rect x={x} y={y} width={w} height={h} rx="2" fill={fill} /> : <rect x={x} y={y} width={w} height={h} rx="2" className={hasValue ? 'heat-empty heat-negative' : 'heat-empty'} />}
      {cell.state === 'failed' ? <rect x={x + aside} y={y} width={w - aside} height={h} fill="url(#heat-failed)" /> : null}
      {!hasValue && cell.state !== 'failed' ? <rect x={x + aside} y={y} width={w - aside} height={h} fill="url(#heat-missing)" /> : null}
      {cell.belowNoise && hasValue ? <rect x={x + aside} y={y} width={w - aside} height={h} fill="url(#heat-hatch)" fillOpacity="0.55" /> : null}
      {cell.stored && ink !== undefined ? <rect x={x + 1} y={y + h - 2.5} width={w - 2} height="2.5" fill={`url(#${storedPattern(ink)})`} fillOpacity="0.6" /> : null}
      <MarkBorder mark={cell.mark} box={{ x, y, width: w, height: h }} ink={ink} />
      <MarkLetter mark={cell.ghost !== null && !roomy ? cell.ghost : cell.mark} x={x + (roomy ? 5 : w / 2 - 7)} y={y + h / 2 - 7.5} ink={ink} />
      {cell.ghost !== null ? (
        roomy ? <GhostLetter mark={cell.ghost} x={x + 24} y={middle} fill={fill} ink={ink} width={w - 28} /> : null
      ) : sign !== null ? (
        <SignText sign={sign} x={roomy ? x + 24 + (w - 26) / 2 : x + w / 2} y={middle} width={Math.min(24, w)} />
      ) : roomy && hasValue ? (
        <text x={cell.wide ? x + w / 2 : x + w - 6} y={middle} className={ink === undefined ? 'heat-figure heat-plain' : 'heat-figure'} textAnchor={cell.wide ? 'middle' : 'end'} fill={ink} stroke={cell.belowNoise ? (fill ?? 'var(--bg)') : undefined} strokeWidth={cell.belowNoise ? 4 : undefined} paintOrder="stroke">
          {cellFigure(cell.angleDeg ?? 0)}
        </text>
      ) : null}
      {cell.locked ? <circle cx={dots.x} cy={cell.unstable && roomy ? dots.y - 4.5 : dots.y} r="2.8" className="heat-lock" /> : null}
      {cell.unstable ? <Triangle x={dots.x} y={roomy ? dots.y + (cell.locked ? 5 : 1) : y + h - 3.5} /> : null}
    </g>
  );
}

/** B: one line. 8: two thin ones. 6: a bar at the left. 4: none. */
function MarkBorder({ mark, box: { x, y, width, height }, ink }: { readonly mark: Mark; readonly box: Box; readonly ink: string | undefined }) {
  const look = { fill: 'none', stroke: ink, className: ink === undefined ? 'heat-border' : undefined };
  if (mark === 'B') return <rect x={x + 2.5} y={y + 2.5} width={width - 5} height={height - 5} rx="1" strokeWidth="1.6" {...look} />;
  if (mark === '6') return <path d={`M${x + 2} ${y + 2.5}v${height - 5}`} strokeWidth="0.8" {...look} />;
  if (mark === '4') return null;
  return (
    <>
      <rect x={x + 1.5} y={y + 1.5} width={width - 3} height={height - 3} rx="1.5" strokeWidth="0.7" {...look} />
      <rect x={x + 3.5} y={y + 3.5} width={width - 7} height={height - 7} rx="0.5" strokeWidth="0.7" {...look} />
    </>
  );
}

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

/** The solver's choice flips within noise. */
export function Triangle({ x, y }: { readonly x: number; readonly y: number }) {
  return <path d={`M${x - 3.4} ${y + 2.8}h6.8l-3.4 -5.8Z`} className="heat-unstable" />;
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
