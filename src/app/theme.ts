/** Theme and the few view settings a browser remembers. `data-theme` is always light or dark; "system" follows the system. */
import type { Theme, ViewState, ViewStore } from '../state';

const KEY = 'bendscope-view/1';
type Kept = Pick<ViewState, 'theme' | 'palette' | 'singleKeys'>;

export function resolveTheme(theme: Theme, systemIsDark: boolean): 'light' | 'dark' {
  return theme === 'system' ? (systemIsDark ? 'dark' : 'light') : theme;
}

/** What was kept, as far as it can be read and is of the right kind. */
export function readKept(text: string | null): Partial<Kept> {
  try {
    const kept = JSON.parse(text ?? '{}') as Partial<Kept> | null;
    return {
      ...(kept?.theme === 'light' || kept?.theme === 'dark' || kept?.theme === 'system' ? { theme: kept.theme } : {}),
      ...(kept?.palette === 'cividis' || kept?.palette === 'viridis' || kept?.palette === 'grey' ? { palette: kept.palette } : {}),
      ...(typeof kept?.singleKeys === 'boolean' ? { singleKeys: kept.singleKeys } : {}),
    };
  } catch {
    return {};
  }
}

/** Applies theme and settings now and whenever they or the system change. */
export function keepView(view: ViewStore, storage: Storage | null): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const show = (): void => {
    document.documentElement.dataset['theme'] = resolveTheme(view.getState().theme, system.matches);
  };
  view.setState(readKept(storage?.getItem(KEY) ?? null));
  show();
  system.addEventListener('change', show);
  view.subscribe((now, before) => {
    if (now.theme === before.theme && now.palette === before.palette && now.singleKeys === before.singleKeys) return;
    show();
    try {
      const { theme, palette, singleKeys } = now;
      storage?.setItem(KEY, JSON.stringify({ theme, palette, singleKeys } satisfies Kept));
    } catch {
      // Quota or a private window: the setting lasts as long as the page.
    }
  });
}
