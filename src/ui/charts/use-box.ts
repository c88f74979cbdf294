/**
 * The size of an element in CSS px, followed while it changes: charts draw in real pixels, so text never scales.
 * A callback ref, because the element may come later than the component (a chart that takes turns with its table).
 */
import { useLayoutEffect, useState, type RefCallback } from 'react';

export function useBox<T extends HTMLElement>(): readonly [RefCallback<T>, { readonly width: number; readonly height: number }] {
  const [element, setElement] = useState<T | null>(null);
  const [box, setBox] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    if (!element) return;
    const measure = (): void => {
      const { width, height } = element.getBoundingClientRect();
      setBox((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, box];
}
