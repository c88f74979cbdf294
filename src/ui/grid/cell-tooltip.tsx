/**
 * The tooltip of a cell: one sentence, then the figures in their fixed order (ux.md 3.6). It comes on hover and on
 * keyboard focus, stays while the pointer is on it, and goes with Esc (WCAG 1.4.13).
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Plan } from '../../allocate/plan';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { useFacts, useView } from '../workbench';
import { siteFigures, siteShapes } from './site-figures';
import { siteName } from './site-names';

const HIDE_AFTER_MS = 140;

export function CellTooltip({ plan, focused }: { readonly plan: Plan; readonly focused: SiteId | null }) {
  const hovered = useView((v) => v.hovered);
  const dragging = useView((v) => v.preview !== null);
  const [inside, setInside] = useState(false);
  const wanted = hovered ?? focused;
  const [shown, setShown] = useState<SiteId | null>(null);
  const [dismissed, setDismissed] = useState<SiteId | null>(null);

  useEffect(() => {
    if (wanted !== null) {
      setShown(wanted);
      return;
    }
    setDismissed(null);
    if (inside) return;
    const timer = setTimeout(() => setShown(null), HIDE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [wanted, inside]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setDismissed(shown);
    };
    // Captured: the grid may keep the key for itself.
    window.addEventListener('keydown', onKey, true);
    return () => window.removeEventListener('keydown', onKey, true);
  }, [shown]);

  if (shown === null || shown === dismissed || dragging) return null;
  return <Tip id={shown} plan={plan} onInside={setInside} />;
}

function Tip({ id, plan, onInside }: { readonly id: SiteId; readonly plan: Plan; readonly onInside: (inside: boolean) => void }) {
  const facts = useFacts((f) => f);
  const ref = useRef<HTMLDivElement | null>(null);
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null);
  useLayoutEffect(() => {
    const cell = document.querySelector(`[data-site="${CSS.escape(id)}"]`)?.getBoundingClientRect();
    const tip = ref.current?.getBoundingClientRect();
    if (!cell || !tip) return;
    const right = cell.right + 10 + tip.width < window.innerWidth;
    setPlace({
      left: right ? cell.right + 8 : Math.max(8, cell.left - tip.width - 8),
      top: Math.max(56, Math.min(window.innerHeight - tip.height - 34, cell.top - 24)),
    });
  }, [id]);
  const { graph } = facts;
  if (!graph) return null;
  const result = facts.sites[id];
  const data = facts.provenance ?? facts.data;
  return (
    <div ref={ref} className="tip" role="tooltip" style={place ?? { visibility: 'hidden' }} onPointerEnter={() => onInside(true)} onPointerLeave={() => onInside(false)}>
      <p className="tip-name">{siteName(graph, id)}</p>
      <p className="tip-shapes">{siteShapes(graph, id, data.sequences, data.tokens)}</p>
      {result?.status === 'measured' ? (
        <p className="tip-sentence">
          Running this one GEMM in NVFP4 turns the whole gradient by <b>{significant(result.cleanAngleDeg)} degrees</b>.
        </p>
      ) : null}
      <dl className="figures">
        {siteFigures(facts, plan, id).map(({ key, label, value }) => (
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
