/**
 * A slider whose positions its owner decides: pointer gestures give a fraction of the track, keys give steps. Used by the
 * budget bar, the marginal bars and the legend's range. Dragging has a key twin here and a number field in the bar.
 */
import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode, type Ref } from 'react';

export interface SliderProps {
  readonly label: string;
  readonly orientation: 'horizontal' | 'vertical';
  /** Position of the handle, 0..1 from the left or the bottom. */
  readonly fraction: number;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly valueText: string;
  readonly className?: string;
  readonly tabIndex?: number;
  readonly disabled?: boolean;
  readonly handleRef?: Ref<HTMLDivElement>;
  /** What lies under the handle: bars, ticks, a ghost. */
  readonly children?: ReactNode;
  onDrag(fraction: number): void;
  /** Towards larger (+) or smaller values; 1 an arrow, 5 a page, Infinity the ends. */
  onStep(by: number): void;
  onCommit(): void;
  onCancel(): void;
  /** Keys across the track's direction: to the neighbouring handle. */
  onNeighbour?(by: number): void;
  onFocus?(): void;
}

const STEPS: Readonly<Record<string, number>> = { PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity };

export function Slider(props: SliderProps) {
  const { orientation, fraction, disabled = false } = props;
  const track = useRef<HTMLDivElement | null>(null);
  const dragging = useRef(false);
  const vertical = orientation === 'vertical';

  const fractionAt = (event: PointerEvent): number => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return fraction;
    const raw = vertical ? (box.bottom - event.clientY) / box.height : (event.clientX - box.left) / box.width;
    return Math.min(1, Math.max(0, raw));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (disabled || event.ctrlKey || event.metaKey || event.altKey) return;
    const along = vertical ? { ArrowUp: 1, ArrowDown: -1 } : { ArrowRight: 1, ArrowLeft: -1 };
    const across = vertical ? { ArrowRight: 1, ArrowLeft: -1 } : { ArrowDown: 1, ArrowUp: -1 };
    const by = (along as Record<string, number>)[event.key] ?? STEPS[event.key];
    const neighbour = (across as Record<string, number>)[event.key];
    if (by !== undefined) props.onStep(by);
    else if (neighbour !== undefined) {
      if (props.onNeighbour) props.onNeighbour(neighbour);
      else props.onStep(-neighbour);
    } else if (event.key === 'Enter') props.onCommit();
    else if (event.key === 'Escape') {
      dragging.current = false;
      props.onCancel();
    } else return;
    event.preventDefault();
    event.stopPropagation();
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
        dragging.current = true;
        props.onDrag(fractionAt(event));
      }}
      onPointerMove={(event) => dragging.current && props.onDrag(fractionAt(event))}
      onPointerUp={() => {
        if (!dragging.current) return;
        dragging.current = false;
        props.onCommit();
      }}
      onPointerCancel={() => {
        dragging.current = false;
        props.onCancel();
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
        onBlur={() => !dragging.current && props.onCommit()}
      />
    </div>
  );
}
