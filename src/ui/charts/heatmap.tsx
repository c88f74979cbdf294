/**
 * The heatmap's drawing: fill = bending, mark = precision, and a pattern for every state that is not a number (ux.md 3.1).
 * SVG only; focus, names and gestures belong to the DOM grid that lies above it at the same places (ui/grid). A cell is
 * drawn again only where what it shows has changed, so that a drag costs as much as the cells that flip.
 */
import { memo } from 'react';
import { HeatCellShape, storedPattern } from './heat-cell';
import type { HeatLayout } from './heat-layout';
import type { Box } from './label-places';
import { SplitCellShape } from './split-cell';
import type { ColourMap } from './scales';

export { cellFigure } from './heat-cell';

/** Letters a cell can carry: B = BF16 (solid border), 8 = an 8-bit format (double border), 6 = a 6-bit one (a bar), 4 = a 4-bit one (none). */
export type Mark = 'B' | '8' | '6' | '4';

/** One side of a cell in the difference view: what a plan makes of it. */
export interface HalfCell {
  readonly mark: Mark;
  /** Bending in that plan's format; null in BF16, which bends nothing, and where it was not measured. */
  readonly angleDeg: number | null;
}

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
  /** Outside the legend's handles, or, in the difference view, the same in both plans. */
  readonly dimmed: boolean;
  /** The solver's choice flips within noise. */
  readonly unstable?: true;
  /** The plan has it in a format that was not measured: `??` stands in the place of its figure. */
  readonly unpredicted?: true;
  /** In the difference view, where the plans differ: A's side and B's. */
  readonly split?: readonly [HalfCell, HalfCell];
}

/** Everything a cell is drawn from but its halves. */
const DRAWN = ['id', 'row', 'column', 'wide', 'state', 'angleDeg', 'mark', 'ghost', 'locked', 'belowNoise', 'stored', 'dimmed', 'unstable', 'unpredicted'] as const satisfies readonly (keyof HeatCell)[];

/** Whether two cells are drawn the same. */
export function isSameCell(a: HeatCell, b: HeatCell): boolean {
  if (a === b) return true;
  for (const key of DRAWN) if (a[key] !== b[key]) return false;
  return a.split === b.split || (isSameHalf(a.split?.[0], b.split?.[0]) && isSameHalf(a.split?.[1], b.split?.[1]));
}

function isSameHalf(a: HalfCell | undefined, b: HalfCell | undefined): boolean {
  return a?.mark === b?.mark && a?.angleDeg === b?.angleDeg;
}

export interface HeatmapProps {
  readonly layout: HeatLayout;
  readonly cells: readonly HeatCell[];
  readonly colourMap: ColourMap;
  /** Ghosts are of a plan that is only pointed at: they stand still. */
  readonly isPointed?: boolean;
}

/** Cells are compared a bundle at a time: where none of it has changed, React does not look at any. */
const BUNDLE = 24;

export const Heatmap = memo(function Heatmap({ layout, cells, colourMap, isPointed = false }: HeatmapProps) {
  const bundles = Array.from({ length: Math.ceil(cells.length / BUNDLE) }, (_, i) => cells.slice(i * BUNDLE, (i + 1) * BUNDLE));
  return (
    <div className={isPointed ? 'heatmap heatmap-pointed' : 'heatmap'} aria-hidden="true">
      {bundles.map((bundle) => (
        <svg key={bundle[0]?.id} width={layout.right} height={layout.bottom}>
          <Bundle cells={bundle} layout={layout} colourMap={colourMap} />
        </svg>
      ))}
      <svg width={layout.right} height={layout.bottom}>
        <Patterns />
        <path d={ghostPath(cells, layout)} className="heat-ghosts" />
      </svg>
    </div>
  );
});

const Bundle = memo(
  function Bundle({ cells, layout, colourMap }: Omit<HeatmapProps, 'isPointed'>) {
    return cells.map((cell) => <Cell key={cell.id} cell={cell} layout={layout} colourMap={colourMap} />);
  },
  (a, b) => a.layout === b.layout && a.colourMap === b.colourMap && a.cells.length === b.cells.length && a.cells.every((cell, i) => isSameCell(cell, b.cells[i]!)),
);

interface CellProps {
  readonly cell: HeatCell;
  readonly layout: HeatLayout;
  readonly colourMap: ColourMap;
}

function cellBox(cell: HeatCell, layout: HeatLayout): Box {
  return {
    x: layout.columnX(cell.column) + 0.5,
    y: (layout.rowY[cell.row] ?? 0) + 0.5,
    width: (cell.wide ? layout.right - layout.columnX(cell.column) : layout.cellWidth) - 1.5,
    height: layout.cellHeight - 1.5,
  };
}

/** Outlines of all cells that would change, as one shape: hundreds that pulse by themselves would cost more than a frame. */
function ghostPath(cells: readonly HeatCell[], layout: HeatLayout): string {
  return cells.filter((cell) => cell.ghost !== null).map((cell) => {
    const { x, y, width, height } = cellBox(cell, layout);
    return `M${x + 0.5} ${y + 0.5}h${width - 1}v${height - 1}h${1 - width}z`;
  }).join('');
}

const Cell = memo(
  function Cell({ cell, layout, colourMap }: CellProps) {
    const box = cellBox(cell, layout);
    return cell.split ? <SplitCellShape cell={cell} halves={cell.split} box={box} colourMap={colourMap} /> : <HeatCellShape cell={cell} box={box} colourMap={colourMap} />;
  },
  (a, b) => a.layout === b.layout && a.colourMap === b.colourMap && isSameCell(a.cell, b.cell),
);

const Patterns = memo(function Patterns() {
  return (
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
  );
});
