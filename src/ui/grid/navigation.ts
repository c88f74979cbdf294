/**
 * Where the focus goes (ARIA grid pattern, ux.md 3.7): one cell an arrow, never around the edge; Home and End to the ends
 * of the row, with Ctrl to the corners; PageUp and PageDown one op group. Headers are row -1 and column -1.
 */
export interface Position {
  readonly row: number;
  readonly column: number;
}

export interface GridShape {
  /** Painted rows and the fixed row under them. */
  readonly rows: number;
  readonly columns: number;
  /** Rows of one op group: a page. */
  readonly page: number;
}

export interface KeyPress {
  readonly key: string;
  readonly ctrl: boolean;
  readonly shift: boolean;
}

/** The new position, or null for a key that does not move. Extending (shift) stays inside the cells. */
export function moveFocus(at: Position, { key, ctrl, shift }: KeyPress, shape: GridShape): Position | null {
  const first = shift ? 0 : -1;
  const clamp = (row: number, column: number, low = first): Position => ({
    row: Math.min(shape.rows - 1, Math.max(low, row)),
    column: Math.min(shape.columns - 1, Math.max(low, column)),
  });
  switch (key) {
    case 'ArrowUp':
      return clamp(at.row - 1, at.column);
    case 'ArrowDown':
      return clamp(at.row + 1, at.column);
    case 'ArrowLeft':
      return clamp(at.row, at.column - 1);
    case 'ArrowRight':
      return clamp(at.row, at.column + 1);
    case 'Home':
      return ctrl ? { row: 0, column: 0 } : { row: at.row, column: 0 };
    case 'End':
      return ctrl ? { row: shape.rows - 1, column: shape.columns - 1 } : { row: at.row, column: shape.columns - 1 };
    case 'PageUp':
      return clamp(at.row - shape.page, at.column, at.row < 0 ? -1 : 0);
    case 'PageDown':
      return clamp(at.row + shape.page, at.column);
    default:
      return null;
  }
}
