/**
 * A handle on a track, for whoever draws one: a hand gives a fraction of the track, at most once a frame, keys give steps
 * (slider-gesture.ts). The owner decides which positions there are. The element that has `track` holds the handle, the one
 * with role=slider, which has `handle`.
 */
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { createFrame, type Frame } from './per-frame';
import { gripHandle, gripMoved, gripTrack, sliderAction, type Grip } from './slider-gesture';

/** A hand on a track; what it asks for is drawn with the next frame. */
export interface Hand {
  isHeld(): boolean;
  /** On the track: the handle goes where the hand is, at once. */
  takeTrack(raw: number, isFine: boolean, onDrag: (fraction: number) => void): void;
  /** On the handle at `fraction`: nothing moves until the hand does. */
  takeHandle(raw: number, isFine: boolean, fraction: number, gain?: number): void;
  /** Nothing while no hand is on it. */
  move(raw: number, isFine: boolean, onDrag: (fraction: number) => void): void;
  /** Draws what waits and lets go; false where no hand was on it. */
  release(): boolean;
  /** Lets go and forgets what waits. */
  drop(): void;
}

export function createHand(frame: Frame = createFrame()): Hand {
  let grip: Grip | null = null;
  const drop = (): void => {
    grip = null;
    frame.drop();
  };
  const follow = ({ fraction }: Grip, onDrag: (fraction: number) => void): void => frame.ask(() => onDrag(fraction));
  return {
    isHeld: () => grip !== null,
    takeTrack(raw, isFine, onDrag) {
      grip = gripTrack(raw, isFine);
      follow(grip, onDrag);
    },
    takeHandle(raw, isFine, fraction, gain) {
      grip = gripHandle(raw, isFine, fraction, gain);
    },
    move(raw, isFine, onDrag) {
      if (grip === null) return;
      grip = gripMoved(grip, raw, isFine);
      follow(grip, onDrag);
    },
    release() {
      if (grip === null) return false;
      frame.flush();
      drop();
      return true;
    },
    drop,
  };
}

/** Whether an event is the handle's own. */
export function isOnHandle(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[role=slider]') !== null;
}

export interface SliderDragProps {
  readonly orientation: 'horizontal' | 'vertical';
  /** Position of the handle, 0..1 from the left or the bottom. */
  readonly fraction: number;
  /** How far the handle goes for the way of a hand that holds it; 1 by default. */
  readonly gain?: number;
  readonly disabled: boolean;
  /** Place of the pointer along the track, 0..1; `box` is that of the element with `track`. */
  along(pointer: { readonly clientX: number; readonly clientY: number }, box: DOMRect): number;
  onDrag(fraction: number): void;
  /** Towards larger (+) or smaller values; 1 an arrow, 5 a page, Infinity the ends; fine with Shift. */
  onStep(by: number, isFine: boolean): void;
  onCommit(): void;
  onCancel(): void;
  /** Keys across the track's direction: to the neighbouring handle; without it they step. */
  onNeighbour?(by: number): void;
  /** F2: the value is to be typed. */
  onType?(): void;
}

export function useSliderDrag(props: SliderDragProps) {
  const [hand] = useState(() => createHand());
  const rawAt = (event: PointerEvent): number => props.along(event, event.currentTarget.getBoundingClientRect());
  const drag = (fraction: number): void => props.onDrag(fraction);
  return {
    track: {
      onPointerDown(event: PointerEvent): void {
        if (props.disabled || event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.querySelector<HTMLElement | SVGElement>('[role=slider]')?.focus();
        if (isOnHandle(event.target)) hand.takeHandle(rawAt(event), event.shiftKey, props.fraction, props.gain);
        else hand.takeTrack(rawAt(event), event.shiftKey, drag);
      },
      onPointerMove(event: PointerEvent): void {
        if (hand.isHeld()) hand.move(rawAt(event), event.shiftKey, drag);
      },
      onPointerUp(): void {
        if (hand.release()) props.onCommit();
      },
      onPointerCancel(): void {
        hand.drop();
        props.onCancel();
      },
    },
    handle: {
      onKeyDown(event: KeyboardEvent): void {
        const action = props.disabled ? null : sliderAction(event, props.orientation);
        if (action === null || (action.kind === 'type' && !props.onType)) return;
        event.preventDefault();
        event.stopPropagation();
        switch (action.kind) {
          case 'step':
            return props.onStep(action.by, action.isFine);
          case 'neighbour':
            return props.onNeighbour ? props.onNeighbour(action.by) : props.onStep(-action.by, false);
          case 'commit':
            return props.onCommit();
          case 'type':
            return props.onType?.();
          case 'cancel':
            hand.drop();
            return props.onCancel();
        }
      },
      /** Leaving the handle commits, but not while a hand is on it. */
      onBlur(): void {
        if (!hand.isHeld()) props.onCommit();
      },
    },
  };
}
