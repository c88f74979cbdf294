/** Actions on the selected cells, opened by right click, Shift+F10 or the button (ARIA menu pattern; Esc goes back). */
import { useEffect, useRef, type KeyboardEvent } from 'react';
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import { formatName, lowFormatsOf } from '../../state';
import { copyText } from '../panels/clipboard';
import { useActions, useFacts, useView, useWorkbench } from '../workbench';
import { formatMarked } from './brushes';
import { columnSites, isWide, markOf, type GridModel } from './grid-model';
import { siteFigures } from './site-figures';
import { siteName } from './site-names';

export interface MenuPlace {
  readonly id: SiteId;
  readonly x: number;
  readonly y: number;
}

interface CellMenuProps extends MenuPlace {
  readonly plan: Plan;
  readonly model: GridModel;
  onClose(): void;
}

interface Item {
  readonly label: string;
  readonly keys: string;
  run(): void;
}

export function CellMenu({ id, x, y, plan, model, onClose }: CellMenuProps) {
  const { view } = useWorkbench();
  const actions = useActions();
  const facts = useFacts((f) => f);
  const selection = useView((v) => v.selection);
  const root = useRef<HTMLDivElement | null>(null);
  useEffect(() => {
    const back = document.activeElement;
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    return () => {
      if (back instanceof HTMLElement) back.focus();
    };
  }, []);
  useEffect(() => {
    const onDown = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) onClose();
    };
    window.addEventListener('pointerdown', onDown, true);
    return () => window.removeEventListener('pointerdown', onDown, true);
  }, [onClose]);

  const ids = selection.has(id) ? [...selection] : [id];
  const locked = ids.every((site) => plan.locked[site] === true);
  const many = ids.length === 1 ? '' : ` (${ids.length} cells)`;
  const row = model.rows.find((r) => r.sites.some((site) => site.id === id));
  const column = row === undefined || isWide(row) ? -1 : row.sites.findIndex((site) => site.id === id);
  const { graph } = facts;
  const copy = (): void => {
    if (!graph) return;
    const lines = ids.flatMap((site) => siteFigures(facts, plan, site).map(({ label, value }) => `"${siteName(graph, site)}","${label}","${value.replaceAll('"', '""')}"`));
    copyText(['site,figure,value', ...lines].join('\r\n')).catch((thrown: unknown) => actions.fault(thrown));
  };
  const items: Item[] = [
    { label: `Set to BF16${many}`, keys: 'B', run: () => actions.setFormats(ids, 'bf16') },
    ...lowFormatsOf(facts).map((format) => ({ label: `Set to ${formatName(format)}${many}`, keys: formatMarked(facts, markOf(format)) === format ? markOf(format) : '', run: () => actions.setFormats(ids, format) })),
    { label: `${locked ? 'Unlock' : 'Lock'}${many}`, keys: 'L', run: () => actions.setLocked(ids, !locked) },
    { label: 'Select its row', keys: 'Shift Space', run: () => row && view.setState({ selection: new Set(row.sites.map((site) => site.id)), primary: id }) },
    ...(column < 0 ? [] : [{ label: 'Select its layer', keys: 'Ctrl Space', run: () => view.setState({ selection: new Set(columnSites(model, column)), primary: id }) }]),
    { label: `Copy figures as CSV${many}`, keys: '', run: copy },
    ...(facts.sites[id]?.status === 'failed' ? [{ label: 'Measure again', keys: 'R', run: () => void actions.runProbe([id]) }] : []),
  ];
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const now = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: (now + 1) % all.length, ArrowUp: (now - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) all[to]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const left = Math.min(x, window.innerWidth - 250);
  const top = Math.min(y, window.innerHeight - items.length * 30 - 16);
  return (
    <div ref={root} className="cell-menu" role="menu" aria-label={`Actions for ${ids.length === 1 && graph ? siteName(graph, id) : `${ids.length} cells`}; now ${formatName(formatOf(plan.formats, id))}`} style={{ left, top }} onKeyDown={onKeyDown}>
      {items.map(({ label, keys, run }) => (
        <button key={label} type="button" role="menuitem" tabIndex={-1} onClick={() => {
          run();
          onClose();
        }}>
          <span>{label}</span>
          <kbd aria-hidden="true">{keys}</kbd>
        </button>
      ))}
    </div>
  );
}
