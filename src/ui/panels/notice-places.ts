/** Which notices stand where: on the page, or in the dialog that covers it; and where the focus goes when one is dismissed. */
import type { Notice } from '../../state';

/** `from`: the newest notice when the dialog opened (state's noticesFrom); null without one. In their order. */
export function noticesIn(place: 'page' | 'dialog', notices: readonly Notice[], from: number | null): readonly Notice[] {
  return notices.filter(({ id }) => (place === 'dialog') === (from !== null && id > from));
}

/** Of `count` notices in a row, the one that has the focus after the one at `at` went: the next, else the one before; null: none is left. */
export function focusAfter(at: number, count: number): number | null {
  if (count <= 1) return null;
  return at + 1 < count ? at + 1 : at - 1;
}
