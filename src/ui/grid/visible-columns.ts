/**
 * Which layers of a deep model are worth drawing: those in sight and some on either side. A grid of thousands of cells costs
 * the browser more than a frame to paint, while only a few hundred are ever seen at once (ux.md 3.11).
 */
export type ColumnRange = readonly [first: number, last: number];

/** Layers that come and go together, so that scrolling redraws now and then, not always. */
const BLOCK = 8;

/** Blocks that are scrolled past. */
export function scrolledBlocks(scrollLeft: number, cellWidth: number): number {
  return Math.floor(scrollLeft / (BLOCK * cellWidth));
}

/** Layers to draw in a view of `width` px, that many blocks scrolled: one block more on the left, one to two on the right. */
export function visibleColumns(blocks: number, width: number, cellWidth: number, columns: number): ColumnRange {
  const first = (blocks - 1) * BLOCK;
  const seen = Math.ceil(width / (BLOCK * cellWidth)) * BLOCK;
  return [Math.max(0, first), Math.min(columns - 1, first + seen + 3 * BLOCK - 1)];
}

export function isInRange([first, last]: ColumnRange, column: number): boolean {
  return column >= first && column <= last;
}
