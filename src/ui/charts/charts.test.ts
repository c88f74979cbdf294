/**
 * Chart arithmetic against definitions: ticks are the decades, bins hold every value once, ink always contrasts, and the
 * pairs are those of a plain double loop over random points.
 */
import { describe, expect, it } from 'vitest';
import { ANGLE_DOMAIN, COLOUR_MAP_NAMES, angleColour, inkOn, logDomain, logHistogram, logPosition, logTicks, logValue, tickLabel } from './scales';
import { distinctPairs, tellingPairs } from './pairs';
import { heatLayout } from './heat-layout';
import { planLabels } from './plan-labels';

/** A small generator so that the points are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('log scale', () => {
  it('maps its ends to 0 and 1 and decades to equal steps', () => {
    expect(logPosition(0.01, [0.01, 100])).toBe(0);
    expect(logPosition(100, [0.01, 100])).toBe(1);
    for (const [i, x] of [0.1, 1, 10].entries()) expect(logPosition(x, [0.01, 100])).toBeCloseTo((i + 1) / 4, 12);
    for (const p of [0, 0.2, 0.77, 1]) expect(logPosition(logValue(p, ANGLE_DOMAIN), ANGLE_DOMAIN)).toBeCloseTo(p, 12);
  });

  it('clamps what is outside, zero and NaN included', () => {
    for (const x of [0, -3, NaN, 0.001]) expect(logPosition(x, ANGLE_DOMAIN)).toBe(0);
    expect(logPosition(500, ANGLE_DOMAIN)).toBe(1);
  });

  it('ticks at decades, with 2 and 5 when the axis is short', () => {
    expect(logTicks([0.01, 90]).map((t) => t.value)).toEqual([0.01, 0.1, 1, 10]);
    expect(logTicks([0.5, 20]).map((t) => t.value)).toEqual([0.5, 1, 2, 5, 10, 20]);
    expect(logTicks([0.5, 20]).filter((t) => t.major).map((t) => t.value)).toEqual([1, 10]);
    expect(logTicks([0, 1])).toEqual([]);
    expect(logTicks([0.04, 0.06]).map((t) => tickLabel(t.value))).toEqual(['0.05']);
  });

  it('finds a round domain that holds every value strictly inside', () => {
    const next = random(5);
    for (let k = 0; k < 200; k++) {
      const values = Array.from({ length: 5 }, () => 10 ** (6 * next() - 4));
      const [low, high] = logDomain(values);
      for (const v of values) expect(v > low && v < high).toBe(true);
      for (const end of [low, high]) expect(String(end.toExponential()[0])).toMatch(/[125]/);
    }
    expect(logDomain([0, NaN])).toEqual([1, 10]);
  });
});

describe('histogram', () => {
  it('counts every value once, those outside in the end bins', () => {
    const next = random(3);
    const values = Array.from({ length: 500 }, () => 10 ** (6 * next() - 3));
    const bins = logHistogram(values, ANGLE_DOMAIN, 24);
    expect(bins).toHaveLength(24);
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(500);
    for (const [i, bin] of bins.entries()) {
      const inside = values.filter((v) => (i === 0 || v >= bin.low) && (i === 23 || v < bin.high)).length;
      expect(bin.count).toBe(inside);
    }
    expect(logHistogram([], ANGLE_DOMAIN, 4).map((b) => b.count)).toEqual([0, 0, 0, 0]);
  });
});

describe('colour', () => {
  it('keeps 4.5 : 1 between a cell and its mark in every map', () => {
    const linear = (c: number): number => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    for (const map of COLOUR_MAP_NAMES) {
      for (let i = 0; i <= 100; i++) {
        const fill = angleColour(map, logValue(i / 100, ANGLE_DOMAIN));
        const [r, g, b] = (/^#(..)(..)(..)$/.exec(fill) ?? []).slice(1).map((c) => linear(parseInt(c, 16) / 255)) as [number, number, number];
        const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        const contrast = inkOn(fill) === '#000000' ? (y + 0.05) / 0.05 : 1.05 / (y + 0.05);
        expect(contrast).toBeGreaterThan(4.5);
      }
    }
  });
});

describe('telling pairs', () => {
  it('finds exactly the pairs of the definition, strongest first', () => {
    const next = random(11);
    const points = Array.from({ length: 40 }, (_, i) => ({ id: `s${i}`, localError: 0.005 + 0.01 * next(), relativeShift: 10 ** (-3 * next()) }));
    const pairs = tellingPairs(points);
    const expected = new Set<string>();
    for (const a of points) for (const b of points) {
      const near = a.localError / b.localError <= 1.2 && b.localError / a.localError <= 1.2;
      if (near && a.relativeShift > 10 * b.relativeShift) expected.add(`${a.id}>${b.id}`);
    }
    expect(expected.size).toBeGreaterThan(10);
    expect(new Set(pairs.map((p) => `${p.strong}>${p.weak}`))).toEqual(expected);
    expect(pairs.map((p) => p.shiftRatio)).toEqual([...pairs.map((p) => p.shiftRatio)].sort((a, b) => b - a));
  });

  it('names each site at most once and leaves out what has no error or shift', () => {
    const points = [
      { id: 'a', localError: 0.01, relativeShift: 0.9 },
      { id: 'b', localError: 0.01, relativeShift: 0.01 },
      { id: 'c', localError: 0.0101, relativeShift: 0.02 },
      { id: 'd', localError: 0, relativeShift: 5 },
      { id: 'e', localError: 0.0099, relativeShift: 0.5 },
    ];
    const chosen = distinctPairs(tellingPairs(points), 3);
    expect(chosen.map((p) => [p.strong, p.weak])).toEqual([['a', 'b'], ['e', 'c']]);
  });
});

describe('heat layout', () => {
  it('puts cells side by side without overlap, groups apart', () => {
    const layout = heatLayout({ columns: 6, groups: [3, 3, 3, 3, 1], cellWidth: 60, cellHeight: 26 });
    expect(layout.rowY).toHaveLength(13);
    for (let r = 1; r < 13; r++) {
      const gap = (layout.rowY[r] ?? 0) - (layout.rowY[r - 1] ?? 0) - 26;
      expect(gap).toBe(r % 3 === 0 ? layout.groupGap : 0);
    }
    expect(layout.columnX(5) + 60).toBe(layout.right);
    expect(layout.bottom).toBe((layout.rowY[12] ?? 0) + 26);
  });
});

describe('labels of the frontier', () => {
  const low = { id: 'low', name: 'All low', cost: 0, predictedDeg: 29.4, measuredDeg: 29.7, current: false };
  const high = { id: 'high', name: 'All BF16', cost: 1, predictedDeg: 0, measuredDeg: null, current: false };

  it('say the angle of a plan that lies below the axis', () => {
    expect([...planLabels([low, high], 0.2)]).toEqual([['low', 'All low'], ['high', 'All BF16, 0 deg']]);
  });

  it('name a plan and the baseline it is once, and only where all figures agree', () => {
    const mine = { ...high, id: 'current', name: 'Plan', current: true };
    expect([...planLabels([low, high, mine], 0.2)]).toEqual([['low', 'All low'], ['current', 'Plan = All BF16, 0 deg']]);
    expect(planLabels([low, high, { ...mine, name: 'All BF16' }], 0.2).get('current')).toBe('All BF16, 0 deg');
    expect(planLabels([low, high, { ...mine, cost: 0.5 }], 0.2).size).toBe(3);
  });
});
