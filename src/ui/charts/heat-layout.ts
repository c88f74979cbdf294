/**
 * Where every cell of the heatmap is, in CSS pixels: read by the SVG drawing and by the DOM grid above it, so that what
 * is seen and what is focused are the same place.
 */
export interface HeatShape {
  readonly columns: number;
  /** Rows in each op group, from the top. */
  readonly groups: readonly number[];
  readonly cellWidth: number;
  readonly cellHeight: number;
}

export interface HeatLayout extends HeatShape {
  /** Width of the row labels: op group and pass. */
  readonly labelWidth: number;
  /** Height of the layer labels with their bars. */
  readonly headerHeight: number;
  readonly groupGap: number;
  readonly rowY: readonly number[];
  columnX(column: number): number;
  readonly right: number;
  readonly bottom: number;
}

const LABEL_WIDTH = 148;
const HEADER_HEIGHT = 56;
const GROUP_GAP = 7;

/** Places of rows and columns below the layer labels and right of the row labels. */
export function heatLayout(shape: HeatShape): HeatLayout {
  const rowY: number[] = [];
  let y = HEADER_HEIGHT;
  shape.groups.forEach((rows, g) => {
    if (g > 0) y += GROUP_GAP;
    for (let r = 0; r < rows; r++) {
      rowY.push(y);
      y += shape.cellHeight;
    }
  });
  const columnX = (column: number): number => LABEL_WIDTH + column * shape.cellWidth;
  return { ...shape, labelWidth: LABEL_WIDTH, headerHeight: HEADER_HEIGHT, groupGap: GROUP_GAP, rowY, columnX, right: columnX(shape.columns), bottom: y };
}

/** Cell size for a number of layers in the room there is (ux.md 3.1: 44 x 24 for 12 layers, never under 16 x 18). */
export function cellSize(columns: number, width: number, height: number, rows: number, groups: number): { cellWidth: number; cellHeight: number } {
  const wide = Math.floor((width - LABEL_WIDTH) / Math.max(1, columns));
  const high = Math.floor((height - HEADER_HEIGHT - GROUP_GAP * (groups - 1)) / Math.max(1, rows));
  return { cellWidth: Math.min(84, Math.max(16, wide)), cellHeight: Math.min(28, Math.max(18, high)) };
}
