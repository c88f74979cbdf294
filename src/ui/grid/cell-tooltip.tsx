/**
 * The tooltip of a cell: one sentence, then the figures in their fixed order (ux.md 3.6). It comes on hover and on
 * keyboard focus, stays while the pointer is on it, and goes with Esc or a click (WCAG 1.4.13). It stands beside grid and
 * bars, so that it hides no cell and no handle, and takes the pointer only after the hand has rested, so that it is never in
 * the way.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Plan } from '../../allocate/plan';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import { findSite } from '../../graph/sites';
import { formatName } from '../../state';
import { useFacts, useView } from '../workbench';
import { isRandom, siteFigures, siteShapes } from './site-figures';
import { siteName } from './site-names';

const FIRST_AFTER_MS = 60;
/** While one is shown another cell has to be meant, so that the way to the tooltip may cross cells. */
const NEXT_AFTER_MS = 160;
const HIDE_AFTER_MS = 180;
const RESTED_AFTER_MS = 500;

export function CellTooltip({ plan, focused }: { readonly plan: Plan; readonly focused: SiteId | null }) {
  const hovered = useView((v) => v.hovered);
  const dragging = useView((v) => v.preview !== null);
  const [inside, setInside] = useState(false);
  const [shown, setShown] = useState<SiteId | null>(null);
  const [dismissed, setDismissed] = useState<SiteId | null>(null);
  const [rested, setRested] = useState(false);
  const wanted = hovered ?? focused;
  const isOpen = shown !== null && shown !== dismissed;

  useEffect(() => {
    if (inside || wanted === shown) return;
    const wait = wanted === null ? HIDE_AFTER_MS : isOpen ? NEXT_AFTER_MS : FIRST_AFTER_MS;
    const timer = setTimeout(() => {
      setShown(wanted);
      setDismissed(null);
      setRested(false);
    }, wait);
    return () => clearTimeout(timer);
  }, [wanted, inside, shown, isOpen]);
  useEffect(() => {
    if (hovered === null || hovered !== shown) return;
    const timer = setTimeout(() => setRested(true), RESTED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [hovered, shown]);
  useEffect(() => {
    // The one that is about to come too: what was meant is dismissed, not only what is seen.
    const dismiss = (): void => {
      setShown(wanted);
      setDismissed(wanted);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') dismiss();
    };
    // Captured: the grid may keep the key for itself. A click selects, and the inspector then says the same.
    const onDown = (event: PointerEvent): void => {
      if (!(event.target instanceof Element && event.target.closest('.tip'))) dismiss();
    };
    window.addEventListener('keydown', onKey, true);
    window.addEventListener('pointerdown', onDown, true);
    return () => {
      window.removeEventListener('keydown', onKey, true);
      window.removeEventListener('pointerdown', onDown, true);
    };
  }, [wanted]);

  if (shown === null || !isOpen || dragging) return null;
  return <Tip id={shown} plan={plan} isInteractive={rested} onInside={setInside} />;
}

/** Row labels that a tip may cover where there is no room right of the bars. */
const LABELS_WIDTH = 140;

/** Right of the grid with its bars; else over the row labels; else, where that would cover the cell, below or above it. */
export function tipPlace(cell: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>, grid: Pick<DOMRect, 'left' | 'right'>, tip: Pick<DOMRect, 'width' | 'height'>, page: Pick<Window, 'innerWidth' | 'innerHeight'>): { readonly left: number; readonly top: number } {
  const lowest = page.innerHeight - tip.height - 34;
  const beside = Math.max(56, Math.min(lowest, cell.top - 24));
  if (grid.right + 10 + tip.width + 8 <= page.innerWidth) return { left: grid.right + 10, top: beside };
  const left = Math.max(8, grid.left + LABELS_WIDTH - tip.width);
  if (left + tip.width <= cell.left - 4) return { left, top: beside };
  const below = cell.bottom + 8;
  return { left: Math.max(8, Math.min(page.innerWidth - tip.width - 8, cell.left)), top: below <= lowest ? below : Math.max(8, cell.top - tip.height - 8) };
}

interface TipProps {
  readonly id: SiteId;
  readonly plan: Plan;
  readonly isInteractive: boolean;
  onInside(inside: boolean): void;
}

function Tip({ id, plan, isInteractive, onInside }: TipProps) {
  const facts = useFacts((f) => f);
  const ref = useRef<HTMLDivElement | null>(null);
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null);
  useLayoutEffect(() => {
    const box = (selector: string): DOMRect | undefined => document.querySelector(selector)?.getBoundingClientRect();
    const [cell, grid, stage, sheet] = [box(`[data-site="${CSS.escape(id)}"]`), box('.heat-grid'), box('.grid-stage'), box('.grid-sheet')];
    const tip = ref.current?.getBoundingClientRect();
    if (cell && grid && stage && sheet && tip) setPlace(tipPlace(cell, { left: grid.left, right: Math.min(stage.right, sheet.right) }, tip, window));
  }, [id]);
  const { graph, recipe, options } = facts;
  const site = graph === null ? undefined : findSite(graph, id);
  // Another recipe's cell is under the pointer (a small grid): it is not in this one.
  if (!graph || site?.kind !== RECIPES[recipe].kind) return null;
  const result = facts.sites[id];
  const data = facts.provenance ?? facts.data;
  return (
    <div ref={ref} className="tip" role="tooltip" style={{ ...(place ?? { visibility: 'hidden' }), pointerEvents: isInteractive ? 'auto' : 'none' }} onPointerEnter={() => onInside(true)} onPointerLeave={() => onInside(false)}>
      <p className="tip-name">{siteName(graph, id)}</p>
      <p className="tip-shapes">{siteShapes(graph, id, data.sequences, data.tokens)}</p>
      {result?.status === 'measured' ? (
        <p className="tip-sentence">
          {site.pass === 'out' ? `Rounding this one output to ${formatName(recipe)}` : `Running this one GEMM in ${formatName(recipe)}`} turns the whole gradient by <b>{significant(result.cleanAngleDeg)} degrees</b>{isRandom(site.pass, options) ? ' (one draw of the random rounding)' : ''}.
        </p>
      ) : null}
      <dl className="figures">
        {siteFigures(facts, plan, id).filter(({ quiet }) => !quiet).map(({ key, label, value }) => (
          <div key={key} className={`figure figure-${key}`}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {result && !facts.measuredHere.has(id) ? <p className="tip-stored">Stored example, not measured on this GPU</p> : null}
    </div>
  );
}
