/**
 * One small multiple: cells on the one fixed colour scale, with a square where a plan keeps BF16 or, of a plan itself, the
 * letter of each format, and the cell under the shared cursor. The drawing answers the pointer; the button above it does
 * the same for keys.
 */
import { memo, useMemo, type PointerEvent } from 'react';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { findSite } from '../../graph/sites';
import type { Graph } from '../../graph/types';
import { angleColour, inkOn, type ColourMap } from '../charts/scales';
import { isWide, type GridModel } from '../grid/grid-model';
import type { SmallCell } from './plan-cells';

const GROUP_GAP = 2;
/** Left and right of the drawing, px (compare.css). */
const MARGIN = 3;

interface SmallGridProps {
  readonly cells: ReadonlyMap<SiteId, SmallCell>;
  readonly graph: Graph;
  readonly model: GridModel;
  /** Room of the drawing with its margins, px. */
  readonly width: number;
  readonly height: number;
  /** Of a cell, px. */
  readonly widest: number;
  readonly palette: ColourMap;
  /** The cell under the cursor, in whichever grid; a cell of the other kind stands for its op. */
  readonly hovered: SiteId | null;
  /** Both the same from one drawing to the next, or the grid is drawn anew each time. */
  onHover(id: SiteId | null): void;
  onPick(): void;
}

interface Place {
  readonly id: SiteId;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A length as large as the room allows, in whole pixels unless they are very small. */
function sideOf(room: number, count: number, most: number): number {
  const side = Math.min(most, room / Math.max(1, count));
  return side < 4 ? side : Math.floor(side);
}

/** Cells side by side; fixed rows are not drawn. */
function placeCells(model: GridModel, width: number, height: number, widest: number): { readonly places: readonly Place[]; readonly right: number; readonly bottom: number } {
  const groups = model.fixed.length > 0 ? model.groups.slice(0, -1) : model.groups;
  const cell = {
    w: sideOf(width, model.columns, widest),
    h: Math.max(3, sideOf(height - GROUP_GAP * (groups.length - 1), model.rows.length, 12)),
  };
  const right = cell.w * model.columns;
  const tops: number[] = [];
  let bottom = 0;
  groups.forEach((rows, g) => {
    if (g > 0) bottom += GROUP_GAP;
    for (let r = 0; r < rows; r++, bottom += cell.h) tops.push(bottom);
  });
  const places = model.rows.flatMap((row, r) => row.sites.map((site, c): Place => ({ id: site.id, x: isWide(row) ? 0 : c * cell.w, y: tops[r] ?? 0, w: isWide(row) ? right : cell.w, h: cell.h })));
  return { places, right, bottom };
}

/** Room from which a cell carries its letter, px. */
const LETTER = { w: 11, h: 9 };

export const SmallGrid = memo(function SmallGrid({ cells, graph, model, width, height, widest, palette, hovered, onHover, onPick }: SmallGridProps) {
  const { places, right, bottom } = useMemo(() => placeCells(model, width - 2 * MARGIN, height, widest), [model, width, height, widest]);
  const words = useMemo(() => summary(cells, places.length), [cells, places]);
  const over = hovered === null ? undefined : findSite(graph, hovered);
  const isHovered = (id: SiteId): boolean => {
    if (id === hovered || over === undefined) return id === hovered;
    const site = findSite(graph, id);
    return site?.kind !== over.kind && site?.node === over.node;
  };
  const find = (event: PointerEvent<SVGSVGElement>): SiteId | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return places.find((place) => x >= place.x && x < place.x + place.w && y >= place.y && y < place.y + place.h)?.id ?? null;
  };
  return (
    <svg className="small-grid" width={right} height={bottom} role="img" aria-label={words} onPointerMove={(event) => onHover(find(event))} onPointerLeave={() => onHover(null)} onClick={onPick}>
      <Cells places={places} cells={cells} palette={palette} />
      {places.filter(({ id }) => isHovered(id)).map(({ id, x, y, w, h }) => <rect key={id} x={x - 0.5} y={y - 0.5} width={w + 0.5} height={h + 0.5} className="small-cursor" />)}
    </svg>
  );
});

/** Apart from the cursor, which moves over them. */
const Cells = memo(function Cells({ places, cells, palette }: { readonly places: readonly Place[] } & Pick<SmallGridProps, 'cells' | 'palette'>) {
  return places.map((place) => <Cell key={place.id} place={place} cell={cells.get(place.id) ?? MISSING} palette={palette} />);
});

const MISSING: SmallCell = { state: 'missing', angleDeg: null, isHigh: false, mark: null };
const CLASSES = { value: 'small-negative', failed: 'small-failed', missing: 'small-empty', high: 'small-bf16' } as const;

/** "72 of 72 cells measured, 0.2 to 21 degrees"; of a plan first how many cells it keeps in BF16. */
function summary(cells: ReadonlyMap<SiteId, SmallCell>, total: number): string {
  const all = [...cells.values()];
  const angles = all.flatMap(({ angleDeg }) => (angleDeg === null ? [] : [angleDeg]));
  const high = all.filter(({ state }) => state === 'high').length;
  const low = total - high;
  const range = angles.length === 0 ? (low === 0 ? 'no cell is low' : 'no cell is measured') : `${angles.length} of ${low} ${high > 0 ? 'low ' : ''}cells measured, ${significant(Math.min(...angles))} to ${significant(Math.max(...angles))} degrees`;
  return high > 0 ? `${high} of ${total} cells BF16; ${range}` : range;
}

function Cell({ place: { x, y, w, h }, cell, palette }: { readonly place: Place; readonly cell: SmallCell; readonly palette: ColourMap }) {
  const { state, angleDeg, isHigh, mark } = cell;
  // A negative angle has no colour on a scale of logarithms; the figure is below, under the cursor.
  const fill = angleDeg === null || angleDeg < 0 ? null : angleColour(palette, angleDeg);
  const ink = fill === null ? undefined : inkOn(fill);
  const side = Math.max(1.5, Math.min(5, h - 3, w - 3));
  const hasLetter = mark !== null && w >= LETTER.w && h >= LETTER.h;
  return (
    <g>
      <rect x={x} y={y} width={w - 0.5} height={h - 0.5} fill={fill ?? undefined} className={fill === null ? CLASSES[state] : undefined} />
      {hasLetter ? (
        <text x={x + w / 2} y={y + h / 2 + 3.2} textAnchor="middle" fill={ink} className={ink === undefined ? 'small-letter small-plain' : 'small-letter'}>{mark}</text>
      ) : isHigh ? (
        <rect x={x + (w - side) / 2} y={y + (h - side) / 2} width={side} height={side} fill={ink} className={ink === undefined ? 'small-high' : undefined} />
      ) : mark !== null && mark !== '4' && h >= 5 ? (
        // Without room for letters a bar tells 8 bits from 4.
        <rect x={x + 1} y={y + h / 2 - 0.75} width={w - 2.5} height="1.5" fill={ink} className={ink === undefined ? 'small-high' : undefined} />
      ) : null}
    </g>
  );
}
