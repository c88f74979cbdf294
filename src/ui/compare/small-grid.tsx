/**
 * One small multiple: the cells of a recipe on the one fixed colour scale, a square where its plan keeps BF16, and the
 * cell under the shared cursor. The drawing answers the pointer; the button above it does the same for keys.
 */
import { memo, type PointerEvent } from 'react';
import { formatOf } from '../../allocate/cost';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { findSite } from '../../graph/sites';
import { fillOf, type Compared } from '../../state';
import { angleColour, inkOn, type ColourMap } from '../charts/scales';
import { isWide, type GridModel } from '../grid/grid-model';

const GROUP_GAP = 2;

interface SmallGridProps {
  readonly compared: Compared;
  readonly model: GridModel;
  readonly width: number;
  readonly height: number;
  readonly palette: ColourMap;
  /** The cell under the cursor, in whichever grid; a cell of the other kind stands for its op. */
  readonly hovered: SiteId | null;
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
export function placeCells(model: GridModel, width: number, height: number): { readonly places: readonly Place[]; readonly right: number; readonly bottom: number } {
  const groups = model.fixed.length > 0 ? model.groups.slice(0, -1) : model.groups;
  const cell = {
    w: sideOf(width, model.columns, 20),
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

export const SmallGrid = memo(function SmallGrid({ compared, model, width, height, palette, hovered, onHover, onPick }: SmallGridProps) {
  const { graph, plan } = compared;
  const { places, right, bottom } = placeCells(model, width, height);
  const cells = fillOf(compared, compared.fill);
  const angles = [...cells.values()].flatMap(({ angleDeg }) => (angleDeg === null ? [] : [angleDeg]));
  const over = hovered === null || graph === null ? undefined : findSite(graph, hovered);
  const isHovered = (id: SiteId): boolean => {
    if (id === hovered || over === undefined || graph === null) return id === hovered;
    const site = findSite(graph, id);
    return site?.kind !== over.kind && site?.node === over.node;
  };
  const find = (event: PointerEvent<SVGSVGElement>): SiteId | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return places.find((place) => x >= place.x && x < place.x + place.w && y >= place.y && y < place.y + place.h)?.id ?? null;
  };
  const range = angles.length === 0 ? 'no cell is measured' : `${angles.length} of ${places.length} cells measured, ${significant(Math.min(...angles))} to ${significant(Math.max(...angles))} degrees`;
  return (
    <svg className="small-grid" width={right} height={bottom} role="img" aria-label={range} onPointerMove={(event) => onHover(find(event))} onPointerLeave={() => onHover(null)} onClick={onPick}>
      {places.map(({ id, x, y, w, h }) => {
        const angleDeg = cells.get(id)?.angleDeg ?? null;
        // A negative angle has no colour on a scale of logarithms; the figure is below, under the cursor.
        const fill = angleDeg === null || angleDeg < 0 ? null : angleColour(palette, angleDeg);
        const isHigh = plan !== null && formatOf(plan.formats, id) === 'bf16';
        const side = Math.max(1.5, Math.min(5, h - 3, w - 3));
        return (
          <g key={id}>
            <rect x={x} y={y} width={w - 0.5} height={h - 0.5} fill={fill ?? undefined} className={fill === null ? (cells.get(id)?.state === 'failed' ? 'small-failed' : angleDeg === null ? 'small-empty' : 'small-negative') : undefined} />
            {isHigh ? <rect x={x + (w - side) / 2} y={y + (h - side) / 2} width={side} height={side} fill={fill === null ? undefined : inkOn(fill)} className={fill === null ? 'small-high' : undefined} /> : null}
          </g>
        );
      })}
      {places.filter(({ id }) => isHovered(id)).map(({ id, x, y, w, h }) => <rect key={id} x={x - 0.5} y={y - 0.5} width={w + 0.5} height={h + 0.5} className="small-cursor" />)}
    </svg>
  );
});
