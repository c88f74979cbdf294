/**
 * A slider whose positions its owner decides (use-slider-drag.ts). Used by the budget bar, the marginal bars and the legend's range.
 */
import type { ReactNode, Ref } from 'react';
import { isOnHandle, useSliderDrag, type SliderDragProps } from '../charts/use-slider-drag';

export interface SliderProps extends Omit<SliderDragProps, 'disabled' | 'along' | 'onType'> {
  readonly label: string;
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
  /** F2 or a double click: the value is to be typed. */
  onType?(): void;
  onFocus?(): void;
}

export function Slider(props: SliderProps) {
  const { orientation, fraction, disabled = false } = props;
  const vertical = orientation === 'vertical';
  const { track, handle } = useSliderDrag({
    ...props, disabled,
    along: ({ clientX, clientY }, box) => (vertical ? (box.bottom - clientY) / box.height : (clientX - box.left) / box.width),
  });
  return (
    <div
      className={`slider slider-${orientation}${disabled ? ' slider-disabled' : ''} ${props.className ?? ''}`}
      {...track}
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
        {...handle}
        onFocus={props.onFocus}
      />
    </div>
  );
}
