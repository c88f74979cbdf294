/** A hand on a track, without a page: what it asks for comes with the frame, a release draws it first, a cancel forgets it. */
import { describe, expect, it } from 'vitest';
import { createFrame } from './per-frame';
import { createHand } from './use-slider-drag';

function held() {
  let waiting: (() => void) | null = null;
  const drawn: number[] = [];
  const hand = createHand(createFrame((run) => {
    waiting = run;
    return 1;
  }, () => {
    waiting = null;
  }));
  return { hand, drawn, onDrag: (fraction: number) => void drawn.push(fraction), frame: () => waiting?.() };
}

describe('a hand', () => {
  it('on the track moves the handle there, once a frame', () => {
    const { hand, drawn, onDrag, frame } = held();
    hand.takeTrack(0.25, false, onDrag);
    hand.move(0.5, false, onDrag);
    hand.move(0.75, false, onDrag);
    expect([hand.isHeld(), drawn]).toEqual([true, []]);
    frame();
    expect(drawn).toEqual([0.75]);
  });

  it('on the handle moves nothing until it moves itself, then by its gain', () => {
    const { hand, drawn, onDrag, frame } = held();
    hand.takeHandle(0.5, false, 0.25, 0.5);
    frame();
    expect(drawn).toEqual([]);
    hand.move(1, false, onDrag);
    frame();
    expect(drawn).toEqual([0.5]);
  });

  it('that lets go draws what waits before it is gone', () => {
    const { hand, drawn, onDrag, frame } = held();
    expect(hand.release()).toBe(false);
    hand.takeTrack(0.25, false, onDrag);
    expect([hand.release(), hand.isHeld(), drawn]).toEqual([true, false, [0.25]]);
    hand.move(0.5, false, onDrag);
    frame();
    expect(drawn).toEqual([0.25]);
  });

  it('that is taken away draws nothing more', () => {
    const { hand, drawn, onDrag, frame } = held();
    hand.takeTrack(0.25, false, onDrag);
    hand.drop();
    frame();
    expect([hand.release(), drawn]).toEqual([false, []]);
  });
});
