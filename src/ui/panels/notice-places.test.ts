/** Notices on the page and in a dialog: each stands in one place, and none behind the dialog that was open when it came. */
import { expect, it } from 'vitest';
import type { Notice } from '../../state';
import { focusAfter, noticesIn } from './notice-places';

const notice = (id: number): Notice => ({ id, kind: 'error', name: `E-${id}`, message: '', hint: '' });
const ids = (place: 'page' | 'dialog', from: number | null): number[] => noticesIn(place, [3, 5, 8].map(notice), from).map(({ id }) => id);

it('what came while a dialog is open stands in it, the rest on the page', () => {
  expect([ids('page', null), ids('dialog', null)]).toEqual([[3, 5, 8], []]);
  expect([ids('page', 5), ids('dialog', 5)]).toEqual([[3, 5], [8]]);
  expect([ids('page', 0), ids('dialog', 0)]).toEqual([[], [3, 5, 8]]);
});

it('the focus goes to the next notice, else to the one before, else to none', () => {
  expect([focusAfter(0, 3), focusAfter(1, 3), focusAfter(2, 3), focusAfter(0, 1)]).toEqual([1, 2, 1, null]);
});
