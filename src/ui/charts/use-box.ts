/** The size of an element in CSS px, followed while it changes: charts draw in real pixels, so text never scales. */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react';

export function useBox<T extends HTMLElement>(): readonly [RefObject<T | null>, { readonly width: number; readonly height: number }] {
  const ref = useRef<T | null>(null);
  const [box, setBox] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => {
      const { width, height } = element.getBoundingClientRect();
      setBox((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, box];
}
