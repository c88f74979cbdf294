/** The frontier chart's arithmetic: cost axes, labels that never collide, the staircase, and which plans another one beats. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costAt, costChangeText, costPosition, costText, costTicks, costTickText, type CostAxis } from './cost-axis';
import { dominatedPlans, frontierScale, labelWidth, NAME_METRICS, placeable, planWords, pointLabels, staircase, type ChartPlan } from './frontier-scale';
import { overlap, placeLabels, type LabelledPoint } from './label-places';

const SHARE: CostAxis = { name: 'HP GEMM work', unit: '%', domain: [0, 1] };
const BITS: CostAxis = { name: 'effective bits', unit: 'bits', domain: [4.34, 16] };
const plan = (id: string, cost: number, predictedDeg: number | null, measuredDeg: number | null = null, current = false): ChartPlan => ({ id, name: id, cost, predictedDeg, measuredDeg, current });

describe('cost axis', () => {
  it('reads shares in per cent and bits as bits', () => {
    expect([costText(SHARE, 0.1304), costText(BITS, 5.9)]).toEqual(['13.0 %', '5.90 bits']);
    expect([costChangeText('%', 0.13), costChangeText('%', -0.028), costChangeText('bits', -0.312), costChangeText('%', -1e-5)]).toEqual(['+13.0 %', '−2.8 %', '−0.31', '±0.0 %']);
  });

  it('maps costs to places and back, also of a time that never reaches 0', () => {
    for (const axis of [SHARE, BITS, { ...SHARE, domain: [0.25, 1] as const }]) {
      expect([costPosition(axis, axis.domain[0]), costPosition(axis, axis.domain[1]), costPosition(axis, -9), costPosition(axis, 99)]).toEqual([0, 1, 0, 1]);
      for (const place of [0, 0.3, 1]) expect(costPosition(axis, costAt(axis, place))).toBeCloseTo(place, 12);
    }
    expect(costPosition({ ...SHARE, domain: [0.5, 0.5] }, 0.5)).toBe(0);
  });

  it('has a handful of round ticks inside', () => {
    expect(costTicks(SHARE)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(costTicks(BITS)).toEqual([6, 8, 10, 12, 14, 16]);
    expect(costTicks({ ...SHARE, domain: [0.25, 1] }).map((tick) => costTickText(SHARE, tick))).toEqual(['30', '40', '50', '60', '70', '80', '90', '100']);
  });
});

describe('names of points', () => {
  const frame = { x: 0, y: 0, width: 600, height: 160 };

  it('never cover each other, a taken place, or the frame', () => {
    const point = fc.record({ x: fc.integer({ min: 0, max: 600 }), y: fc.integer({ min: 0, max: 160 }), length: fc.integer({ min: 3, max: 24 }) });
    fc.assert(fc.property(fc.array(point, { maxLength: 30 }), (all) => {
      const points = all.map(({ x, y, length }, i): LabelledPoint => ({ id: String(i), x, y, radius: 5, width: labelWidth('x'.repeat(length)) }));
      const dots = points.map(({ x, y }) => ({ x: x - 4, y: y - 4, width: 8, height: 8 }));
      const boxes = [...placeLabels(points, { frame, taken: dots }, NAME_METRICS)].map(([id, place]) => {
        const { width } = points[Number(id)]!;
        return { x: place.anchor === 'start' ? place.x : place.anchor === 'end' ? place.x - width : place.x - width / 2, y: place.y - 10, width, height: 13 };
      });
      return boxes.every((box, i) => box.x >= 0 && box.x + box.width <= 600 && box.y >= 0 && box.y + box.height <= 160
        && !dots.some((dot) => overlap(dot, box)) && !boxes.slice(0, i).some((other) => overlap(other, box)));
    }));
  });

  it('puts a lone name right of its point, at the right edge left of it', () => {
    const at = (x: number) => placeLabels([{ id: 'a', x, y: 80, radius: 5, width: 60 }], { frame, taken: [] }, NAME_METRICS).get('a');
    expect(at(100)).toMatchObject({ anchor: 'start', x: 108 });
    expect(at(590)).toMatchObject({ anchor: 'end', x: 582 });
  });

  it('come first to the plan in hand and to A, where there is room for few', () => {
    const crowd = Array.from({ length: 16 }, (_, i) => plan(`a rival's plan ${i}`, 0.3 + 0.001 * i, 10 + 0.01 * i));
    const plans = [...crowd, plan('mine', 0.3, 10.05, null, true), plan('pinned one', 0.305, 10.1)];
    const scale = frontierScale(700, 200, SHARE, [], plans);
    const { names, places } = pointLabels(scale, [], plans, 'pinned one', dominatedPlans(plans));
    expect(names.get('pinned one')).toBe('A: pinned one');
    expect([places.has('mine'), places.has('pinned one')]).toEqual([true, true]);
    expect(places.size).toBeLessThan(plans.length);
  });
});

describe('the frontier chart', () => {
  it('dims what another plan beats, by measured angles where there are some', () => {
    const plans = [plan('cheap', 0.1, 10), plan('beaten', 0.2, 11), plan('dear', 0.3, 5), plan('twin', 0.3, 5), plan('measured worse', 0.3, 4, 12), plan('unknown', 0.9, null)];
    expect(dominatedPlans(plans)).toEqual(new Set(['beaten', 'measured worse']));
    expect(placeable(plans).map(({ id }) => id)).not.toContain('unknown');
  });

  it('draws a staircase that keeps its ends and leaves out what no eye can tell', () => {
    const line = Array.from({ length: 20_001 }, (_, i) => ({ cost: i / 20_000, angleDeg: 40 - 39 * (i / 20_000) }));
    const scale = frontierScale(700, 200, SHARE, line, []);
    const path = staircase(line, scale);
    expect(path.startsWith('M0 ')).toBe(true);
    expect(path.split('H').length).toBeLessThan(3000);
    expect(path).toContain(`H${Math.round(10 * scale.x(1)) / 10}V`);
    expect(staircase([{ cost: 0.2, angleDeg: 10 }, { cost: 0.4, angleDeg: 5 }], scale).replace(/[\d.]+/g, '#')).toBe('M# #H#V#');
  });

  it('says a plan in words', () => {
    const degrees = (x: number): string => `${x} deg`;
    expect(planWords(SHARE, plan('p', 0.333, 10.8, 11.2), degrees)).toBe('33.3 % HP GEMM work, predicted 10.8 deg, measured 11.2 deg');
    expect(planWords(BITS, plan('p', 5.9, null), degrees)).toBe('5.90 bits, not predicted, not measured');
  });
});
