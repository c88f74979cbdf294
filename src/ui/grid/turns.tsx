/** "Where the gradient turns" for the inspector: the angle of each layer's own parameters, and the tensors that turn most. */
import type { SiteId } from '../../graph/policy';
import { findSite } from '../../graph/sites';
import { formatDegrees } from '../../base/units';
import { TurnBars, type TurnBar } from '../charts/turn-bars';
import { useBox } from '../charts/use-box';
import { useFacts, useView } from '../workbench';
import './grid.css';

const NAMED_TENSORS = 4;

export function GradientTurns({ site }: { readonly site: SiteId }) {
  const graph = useFacts((f) => f.graph);
  const result = useFacts((f) => f.sites[site]);
  const palette = useView((v) => v.palette);
  const [ref, box] = useBox<HTMLDivElement>();
  if (!graph || result?.status !== 'measured') return null;
  const own = findSite(graph, site)?.layer ?? null;
  const layers = Object.entries(result.layerAngleDeg);
  const bars: TurnBar[] = layers
    .sort(([a], [b]) => order(a) - order(b))
    .map(([key, angleDeg]) => ({ label: key === 'outside' ? 'emb' : key, angleDeg, isOwn: own !== null && key === String(own) }));
  const tensors = Object.entries(result.blockAngleDeg).sort(([, a], [, b]) => b - a).slice(0, NAMED_TENSORS);
  return (
    <section className="turns-box" aria-label="Where the gradient turns">
      <h3>Where the gradient turns</h3>
      {bars.length === 0 ? <p className="turns-none">This result holds no angles by layer.</p> : (
        <>
          <div ref={ref} className="turns-plot">
            {box.width > 0 ? <TurnBars width={box.width} bars={bars} colourMap={palette} label={`Angle of each part's own gradient, degrees: ${bars.map((b) => `${b.label} ${formatDegrees(b.angleDeg)}`).join(', ')}`} /> : null}
          </div>
          <p className="turns-note">Angle of each layer’s own gradient, deg (log). emb: embeddings and final norm.</p>
        </>
      )}
      {tensors.length > 0 ? (
        <ol className="turns-tensors" aria-label="Tensors that turn most">
          {tensors.map(([name, angleDeg]) => <li key={name}><code>{name}</code><span>{formatDegrees(angleDeg)}</span></li>)}
        </ol>
      ) : null}
    </section>
  );
}

/** Outside the blocks first, then layers by number. */
function order(key: string): number {
  return key === 'outside' ? -1 : Number(key);
}
