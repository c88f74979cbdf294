/**
 * The paper's first claim on the user's own model: local error does not tell where the gradient turns. Every measured
 * site as a point, the most telling pairs joined and named in words, or the table twin.
 */
import { useCallback, useMemo, useState } from 'react';
import { significant } from '../../base/units';
import { findSite, groupLabel, PASS_LABELS } from '../../graph/sites';
import type { Graph } from '../../graph/types';
import type { Results } from '../../state';
import { distinctPairs, tellingPairs, type TellingPair } from '../charts/pairs';
import { ScatterChart } from '../charts/scatter-chart';
import { PASS_SHAPES, type ScatterPoint } from '../charts/scatter-points';
import { useBox } from '../charts/use-box';
import { useFacts, useView, useWorkbench } from '../workbench';
import { CopyTable } from './copy-table';
import './dock.css';

/** Every site with an angle and a local error above zero. */
export function scatterPoints(graph: Graph | null, sites: Results['sites']): ScatterPoint[] {
  if (!graph) return [];
  return Object.entries(sites).flatMap(([id, result]) => {
    const site = findSite(graph, id);
    if (!site || result.status !== 'measured' || result.localError === null || result.localError <= 0 || result.relativeShift <= 0 || result.cleanAngleDeg <= 0) return [];
    return [{ id, name: nameOf(graph, id), pass: site.pass, localError: result.localError, relativeShift: result.relativeShift, angleDeg: result.cleanAngleDeg }];
  });
}

/** Every telling pair, the most telling first; below noise a ratio of shifts says nothing. */
export function pairsAboveNoise(points: readonly ScatterPoint[], sites: Results['sites']): TellingPair[] {
  return tellingPairs(points.filter(({ id }) => {
    const result = sites[id];
    return result?.status === 'measured' && !result.belowNoise;
  }));
}

/** How many of them are joined and named. */
export const NAMED_PAIRS = 3;

function nameOf(graph: Graph, id: string): string {
  const site = findSite(graph, id);
  return site ? `${site.layer === null ? '' : `L${site.layer} `}${groupLabel(site.group).short} ${PASS_LABELS[site.pass].long}` : id;
}

export function ScatterPanel() {
  const graph = useFacts((f) => f.graph);
  const sites = useFacts((f) => f.sites);
  const hovered = useView((v) => v.hovered);
  const primary = useView((v) => v.primary);
  const { view } = useWorkbench();
  const [asTable, setAsTable] = useState(false);
  const [ref, box] = useBox<HTMLDivElement>();
  const points = useMemo(() => scatterPoints(graph, sites), [graph, sites]);
  const allPairs = useMemo(() => pairsAboveNoise(points, sites), [points, sites]);
  const pairs = useMemo(() => distinctPairs(allPairs, NAMED_PAIRS), [allPairs]);
  const select = useCallback((id: string): void => view.setState({ primary: id, selection: new Set([id]) }), [view]);
  const hover = useCallback((id: string | null): void => view.setState({ hovered: id }), [view]);
  if (!graph) return <p className="empty">Open a model to see its sites.</p>;
  return (
    <section className="dock-chart" aria-label="Local error against bending">
      <div className="dock-side">
        <p className="shape-keys">
          {(Object.keys(PASS_SHAPES) as ScatterPoint['pass'][]).filter((pass) => points.some((point) => point.pass === pass)).map((pass) => <span key={pass} className={`shape-key ${pass}`}>{PASS_SHAPES[pass].name}</span>)}
        </p>
        <p className="muted">{allPairs.length > 0 ? `${allPairs.length} pairs of sites have local errors within 20 % and shifts more than 10x apart.` : 'No pair of sites has local errors within 20 % and shifts more than 10x apart.'}</p>
        <ol className="pairs">
          {pairs.map((pair) => (
            <li key={pair.strong}>
              <button type="button" className="link" onClick={() => select(pair.strong)}>{nameOf(graph, pair.strong)}</button> shifts the gradient {significant(pair.shiftRatio, 2)}x as far as{' '}
              <button type="button" className="link" onClick={() => select(pair.weak)}>{nameOf(graph, pair.weak)}</button>, local errors {significant(pair.errorRatio, 3)}x apart
            </li>
          ))}
        </ol>
        <button type="button" className="button" onClick={() => setAsTable(!asTable)}>{asTable ? 'Show as chart' : 'Show as table'}</button>
      </div>
      {asTable ? (
        <CopyTable caption="Sites: local error, bending and shift" columns={['site', 'pass', 'local error', 'bending, deg', 'relative shift']} rows={points.map((p) => [p.id, PASS_SHAPES[p.pass].name, significant(p.localError), significant(p.angleDeg), significant(p.relativeShift)])} />
      ) : (
        <div className="dock-plot" ref={ref}>
          {box.width > 0 && points.length > 0 && (
            <ScatterChart width={box.width} height={box.height} points={points} pairs={pairs} highlighted={hovered} selected={primary} onHover={hover} onSelect={select} />
          )}
          {points.length === 0 && <p className="empty">Nothing is measured yet.</p>}
        </div>
      )}
    </section>
  );
}
