/** Arrows among the points of a chart. */
import { expect, it } from 'vitest';
import { pointAt } from './use-point-keys';

it('go from one to the next and stay at the ends', () => {
  expect(['ArrowRight', 'ArrowLeft', 'Home', 'End'].map((key) => pointAt(key, 1, 4))).toEqual([2, 0, 0, 3]);
  expect([pointAt('ArrowRight', 3, 4), pointAt('ArrowLeft', 0, 4)]).toEqual([3, 0]);
  expect(['ArrowUp', 'Tab', 'a', 'Enter'].map((key) => pointAt(key, 1, 4))).toEqual([null, null, null, null]);
});
