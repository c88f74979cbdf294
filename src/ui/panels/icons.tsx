/** The few pictures of the top bar, in strokes of the text's colour; hidden from screen readers, the buttons have names. */
const PATHS = {
  undo: 'M6 3 3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H7',
  redo: 'm10 3 3 3-3 3M13 6H6.5a3.5 3.5 0 0 0 0 7H9',
  share: 'M8 9.5V2.5M5.5 5 8 2.5 10.5 5M4 7.5H3v6h10v-6h-1',
  system: 'M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3',
  light: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.8M8 12.7v1.8M1.5 8h1.8M12.7 8h1.8M3.4 3.4l1.3 1.3M11.3 11.3l1.3 1.3M12.6 3.4l-1.3 1.3M4.7 11.3l-1.3 1.3',
  dark: 'M13 9.6A5.5 5.5 0 1 1 6.4 3 4.6 4.6 0 0 0 13 9.6z',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  panel: 'M2.5 3h11v10h-11zM9.5 3v10',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" className="icon">
      <path d={PATHS[name]} />
    </svg>
  );
}
