/** Reading figures: hand-written examples, and the property that rounding stays within half a unit of the last digit. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { degreesFigure, formatBytes, formatDegrees, formatDuration, formatPercent, signed, significant } from './units';

it.each([
  [6.8, '6.80'], [0.0123, '0.0123'], [123.4, '123'], [1234, '1234'], [0, '0'], [9.996, '10.0'], [0.9996, '1.00'], [-2.5, '-2.50'], [Infinity, 'Infinity'],
])('writes %f with three significant digits as %s', (x, text) => expect(significant(x)).toBe(text));

it('keeps three significant digits within half a unit of the last one', () => {
  fc.assert(fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (x) => {
    expect(Math.abs(Number(significant(x)) - x)).toBeLessThanOrEqual(0.5 * 10 ** (Math.floor(Math.log10(x)) - 2) * (1 + 1e-9));
  }));
});

it.each([[0, '0 deg'], [0.0004, '< 0.001 deg'], [0.001, '0.00100 deg'], [6.8, '6.80 deg'], [21.3962, '21.4 deg']])('writes %f degrees as %s', (x, text) =>
  expect([formatDegrees(x), `${degreesFigure(x)} deg`]).toEqual([text, text]));

it.each([[0, '0 B'], [999, '999 B'], [1536, '1.50 KiB'], [1023 * 1024, '0.999 MiB'], [2040109466, '1.90 GiB']])('writes %i bytes as %s', (x, text) =>
  expect(formatBytes(x)).toBe(text));

it.each([[820, '0.82 s'], [9999, '10.0 s'], [37_210, '37.2 s'], [59_999, '1 min 0 s'], [245_000, '4 min 5 s'], [7_380_000, '2 h 3 min'], [3_599_900, '1 h 0 min']])(
  'writes %i ms as %s', (x, text) => expect(formatDuration(x)).toBe(text));

it('writes changes with their sign', () => expect([signed(0.5, String), signed(-0.5, String), signed(0, formatPercent)]).toEqual(['+0.5', '−0.5', '+0.0 %']));

it('writes shares as per cent', () => expect(formatPercent(0.1304)).toBe('13.0 %'));
