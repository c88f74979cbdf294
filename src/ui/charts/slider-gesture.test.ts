/** Handles by hand and by key: the same keys everywhere, Shift ten times finer, frames that carry only the newest move. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrame } from './per-frame';
import { FINE, gripHandle, gripMoved, gripTrack, sliderAction } from './slider-gesture';

const press = (key: string, shiftKey = false) => ({ key, shiftKey, ctrlKey: false, metaKey: false, altKey: false });

describe('keys of a handle', () => {
  it('step along the track, five a page, and to the ends', () => {
    const by = (key: string, orientation: 'horizontal' | 'vertical' = 'horizontal') => {
      const action = sliderAction(press(key), orientation);
      return action?.kind === 'step' ? action.by : null;
    };
    expect(['ArrowRight', 'ArrowLeft', 'PageUp', 'PageDown', 'Home', 'End'].map((key) => by(key))).toEqual([1, -1, 5, -5, -Infinity, Infinity]);
    expect(by('ArrowUp', 'vertical')).toBe(1);
    expect(sliderAction(press('ArrowRight', true), 'horizontal')).toMatchObject({ kind: 'step', isFine: true });
  });

  it('go across to the next handle: down among rows, right among layers', () => {
    expect(sliderAction(press('ArrowDown'), 'horizontal')).toEqual({ kind: 'neighbour', by: 1 });
    expect(sliderAction(press('ArrowRight'), 'vertical')).toEqual({ kind: 'neighbour', by: 1 });
  });

  it('commit, revert and type, and leave everything else alone', () => {
    expect(['Enter', 'Escape', 'F2'].map((key) => sliderAction(press(key), 'horizontal')?.kind)).toEqual(['commit', 'cancel', 'type']);
    expect(sliderAction(press('b'), 'horizontal')).toBeNull();
    expect(sliderAction({ ...press('ArrowRight'), ctrlKey: true }, 'horizontal')).toBeNull();
  });
});

describe('a hand on a track', () => {
  it('puts the handle where it presses, and follows', () => {
    const grip = gripTrack(0.3, false);
    expect(grip.fraction).toBe(0.3);
    expect(gripMoved(grip, 0.7, false).fraction).toBe(0.7);
  });

  it('leaves a handle that it takes hold of where it is until it moves', () => {
    const grip = gripHandle(0.32, false, 0.3);
    expect(grip.fraction).toBe(0.3);
    expect(gripMoved(grip, 0.42, false).fraction).toBeCloseTo(0.4, 12);
  });

  it('gives a handle of a small range the whole way', () => {
    const grip = gripHandle(0.1, false, 0.1, 0.1);
    expect(gripMoved(grip, -0.4, false).fraction).toBeCloseTo(0.05, 12);
    expect(gripMoved(grip, -0.9, false).fraction).toBeCloseTo(0, 12);
  });

  it('goes a tenth of the way with Shift, from where it was taken up', () => {
    const coarse = gripMoved(gripTrack(0.2, false), 0.5, false);
    const fine = gripMoved(gripMoved(coarse, 0.5, true), 0.7, true);
    expect(fine.fraction).toBeCloseTo(0.5 + 0.2 / FINE, 12);
    // Without Shift a hand on the track means its place again.
    expect(gripMoved(fine, 0.7, false).fraction).toBe(0.7);
  });

  it('stays on the track wherever the hand goes', () => {
    const moves = fc.array(fc.tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.boolean()), { maxLength: 20 });
    fc.assert(fc.property(fc.boolean(), moves, (isHandle, all) => {
      let grip = isHandle ? gripHandle(0.5, false, 0.4, 0.3) : gripTrack(0.5, false);
      return all.every(([raw, isFine]) => (grip = gripMoved(grip, raw, isFine)).fraction >= 0 && grip.fraction <= 1);
    }));
  });
});

describe('a frame', () => {
  /** Frames that the test lets come. */
  function frames() {
    const waiting: (() => void)[] = [];
    const frame = createFrame((run) => waiting.push(run), (id) => void waiting.splice(id - 1, 1));
    return { frame, come: () => waiting.splice(0).forEach((run) => run()), asked: () => waiting.length };
  }

  it('runs what was asked last, once', () => {
    const { frame, come, asked } = frames();
    const ran: number[] = [];
    for (const n of [1, 2, 3]) frame.ask(() => ran.push(n));
    expect(asked()).toBe(1);
    expect(ran).toEqual([]);
    come();
    come();
    expect(ran).toEqual([3]);
  });

  it('flushes at once, and then has nothing left for the frame', () => {
    const { frame, come } = frames();
    const ran: number[] = [];
    frame.ask(() => ran.push(1));
    frame.flush();
    expect(ran).toEqual([1]);
    frame.flush();
    come();
    expect(ran).toEqual([1]);
    frame.ask(() => ran.push(2));
    frame.drop();
    come();
    expect(ran).toEqual([1]);
  });
});
