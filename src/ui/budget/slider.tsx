/**
 * A slider whose positions its owner decides: pointer gestures give a fraction of the track, at most once a frame, and keys
 * give steps. Used by the budget bar, the marginal bars and the legend's range.
 */
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode, type Ref } from 'react';
import { createFrame } from '../charts/per-frame';
import { gripHandle, gripMoved, gripTrack, sliderAction, type Grip } from '../charts/slider-gesture';

export interface SliderProps {
  readonly label: string;
  readonly orientation: 'horizontal' | 'vertical';
  /** Position of the handle, 0..1 from the left or the bottom. */
  readonly fraction: number;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly valueText: string;
  /** How far the handle goes for the way of a hand that holds it; 1 by default. */
  readonly gain?: number;
  readonly className?: string;
  readonly tabIndex?: number;
  readonly disabled?: boolean;
  readonly handleRef?: Ref<HTMLDivElement>;
  /** What lies under the handle: bars, ticks, a ghost. */
  readonly children?: ReactNode;
  onDrag(fraction: number): void;
  /** Towards larger (+) or smaller values; 1 an arrow, 5 a page, Infinity the ends; fine with Shift. */
  onStep(by: number, isFine: boolean): void;
  onCommit(): void;
  onCancel(): void;
  /** Keys across the track's direction: to the neighbouring handle. */
  onNeighbour?(by: number): void;
  /** F2 or a double click: the value is to be typed. */
  onType?(): void;
  onFocus?(): void;
}

function isOnHandle(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[role=slider]') !== null;
}

export function Slider(props: SliderProps) {
  const { orientation, fraction, disabled = false } = props;
  const track = useRef<HTMLDivElement | null>(null);
  /** The hand on the track; null: none. */
  const hold = useRef<Grip | null>(null);
  const [frame] = useState(() => createFrame());
  const vertical = orientation === 'vertical';

  const rawAt = (event: PointerEvent): number => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return fraction;
    return vertical ? (box.bottom - event.clientY) / box.height : (event.clientX - box.left) / box.width;
  };
  const drag = (to: number): void => frame.ask(() => props.onDrag(to));
  const letGo = (): void => {
    hold.current = null;
    frame.drop();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = disabled ? null : sliderAction(event, orientation);
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
        letGo();
        return props.onCancel();
    }
  };
  return (
    <div
      ref={track}
      className={`slider slider-${orientation}${disabled ? ' slider-disabled' : ''} ${props.className ?? ''}`}
      onPointerDown={(event) => {
        if (disabled || event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.querySelector<HTMLElement>('[role=slider]')?.focus();
        const handled = isOnHandle(event.target);
        hold.current = handled ? gripHandle(rawAt(event), event.shiftKey, fraction, props.gain) : gripTrack(rawAt(event), event.shiftKey);
        if (!handled) drag(hold.current.fraction);
      }}
      onPointerMove={(event) => {
        if (hold.current === null) return;
        hold.current = gripMoved(hold.current, rawAt(event), event.shiftKey);
        drag(hold.current.fraction);
      }}
      onPointerUp={() => {
        if (hold.current === null) return;
        frame.flush();
        letGo();
        props.onCommit();
      }}
      onPointerCancel={() => {
        letGo();
        props.onCancel();
      }}
      onDoubleClick={(event) => {
        if (!disabled && isOnHandle(event.target)) props.onType?.();
      }}
    >
      {props.children}
      <div
        ref={props.handleRef}
        className="slider-handle"
        role="slider"
        tabIndex={props.tabIndex ?? 0}
        aria-label={props.label}
        aria-orientation={orientation}
        aria-valuemin={props.min}
        aria-valuemax={props.max}
        aria-valuenow={props.value}
        aria-valuetext={props.valueText}
        aria-disabled={disabled || undefined}
        style={vertical ? { bottom: `${100 * fraction}%` } : { left: `${100 * fraction}%` }}
        onKeyDown={onKeyDown}
        onFocus={props.onFocus}
        onBlur={() => hold.current === null && props.onCommit()}
      />
    </div>
  );
}
