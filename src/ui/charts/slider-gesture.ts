/**
 * What a hand and a keyboard mean to a handle on a track, wherever it is drawn (ux.md 3.4): arrows one step, PageUp and
 * PageDown five, Home and End the limits, Enter commits, Esc reverts; with Shift the hand moves ten times finer.
 */
export type SliderAction =
  /** Towards larger (+) or smaller values; Infinity: the end. */
  | { readonly kind: 'step'; readonly by: number; readonly isFine: boolean }
  /** Across the track: to the neighbouring handle. */
  | { readonly kind: 'neighbour'; readonly by: number }
  | { readonly kind: 'commit' | 'cancel' | 'type' };

const ENDS: Readonly<Record<string, number>> = { PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity };
const HORIZONTAL: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };
const VERTICAL: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowDown: -1 };

export interface PressedKey {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Null for a key that is none of the handle's. Across a horizontal track down is the next neighbour, across a vertical one right is. */
export function sliderAction({ key, shiftKey, ctrlKey, metaKey, altKey }: PressedKey, orientation: 'horizontal' | 'vertical'): SliderAction | null {
  if (ctrlKey || metaKey || altKey) return null;
  const isVertical = orientation === 'vertical';
  const by = (isVertical ? VERTICAL : HORIZONTAL)[key] ?? ENDS[key];
  if (by !== undefined) return { kind: 'step', by, isFine: shiftKey };
  const across = (isVertical ? HORIZONTAL : VERTICAL)[key];
  if (across !== undefined) return { kind: 'neighbour', by: isVertical ? across : -across };
  return key === 'Enter' ? { kind: 'commit' } : key === 'Escape' ? { kind: 'cancel' } : key === 'F2' ? { kind: 'type' } : null;
}

/** How much finer the hand moves with Shift. */
export const FINE = 10;

/** A hand on a track: where it was, and what that meant, when it took hold or last took up or let go of Shift. */
export interface Grip {
  readonly isFine: boolean;
  /** How far the handle goes for the hand's way; null: it goes where the hand is. */
  readonly gain: number | null;
  /** Of the pointer along the track, 0..1. */
  readonly raw: number;
  /** Of the handle, then and now. */
  readonly from: number;
  readonly fraction: number;
}

/** The hand takes hold of the track: the handle goes where it is. */
export function gripTrack(raw: number, isFine: boolean): Grip {
  return { isFine, gain: null, raw, from: clamp(raw), fraction: clamp(raw) };
}

/** The hand takes hold of the handle, which then goes `gain` times its way: less than 1 where the handle's own range is a small part of the track. */
export function gripHandle(raw: number, isFine: boolean, fraction: number, gain = 1): Grip {
  return { isFine, gain, raw, from: fraction, fraction };
}

/** The hand has moved. */
export function gripMoved(grip: Grip, raw: number, isFine: boolean): Grip {
  const held = isFine === grip.isFine ? grip : { ...grip, isFine, raw, from: grip.fraction };
  const fraction = held.gain === null && !held.isFine ? raw : held.from + ((raw - held.raw) * (held.gain ?? 1)) / (held.isFine ? FINE : 1);
  return { ...held, fraction: clamp(fraction) };
}

function clamp(x: number): number {
  return Math.min(1, Math.max(0, x));
}
