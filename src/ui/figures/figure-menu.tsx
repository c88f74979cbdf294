/** Figures for papers and slides: each picture as SVG, PNG and PDF in the chosen width, colours and background; plans for LaTeX. */
import { useId, useMemo, useState } from 'react';
import { allocation } from '../../allocate/exports/allocation';
import { COLOUR_MAP_NAMES, COLOUR_MAPS, type ColourMap } from '../charts/scales';
import { download } from '../panels/download';
import { useActions, useDocument, useFacts, useView } from '../workbench';
import { SHEETS } from './drawing';
import { figureInputs } from './figure-data';
import { FIGURE_ROWS, type FigureFile } from './figure-files';
import type { FigureOptions, FigureWidth } from './figure-types';
import './figures.css';

/** `onSaved` says what was saved; empty where nothing was, which a notice says. */
export function FigureMenu({ onSaved }: { readonly onSaved: (words: string) => void }) {
  const shown = useFacts((f) => f);
  const document = useDocument((d) => d);
  // Not the whole view, which changes with every move of the pointer.
  const [fill, cost, ratios, times, pinned] = [useView((v) => v.fill), useView((v) => v.cost), useView((v) => v.ratios), useView((v) => v.times), useView((v) => v.pinned)];
  const palette = useView((v) => v.palette);
  const actions = useActions();
  const [width, setWidth] = useState<FigureWidth>('column');
  const [chosenMap, setMap] = useState<ColourMap | null>(null);
  const [background, setBackground] = useState<FigureOptions['background']>('white');
  const [busy, setBusy] = useState<string | null>(null);
  const id = useId();
  const state = useMemo(() => ({ shown, document, view: { fill, cost, ratios, times, pinned } }), [shown, document, fill, cost, ratios, times, pinned]);
  const inputs = useMemo(() => figureInputs({ ...state, allocation: null }), [state]);
  if (inputs === null) return <p className="muted">Open a model first: there is nothing to draw.</p>;
  const colourMap = chosenMap ?? palette;
  const save = async (row: string, file: FigureFile): Promise<void> => {
    setBusy(`${row} ${file.label}`);
    try {
      // With the manifest, which takes a moment to make.
      const all = figureInputs({ ...state, allocation: actions.exportPlan(allocation)?.text ?? null }) ?? inputs;
      const { fileName, content, remark } = await file.make(all, { width, colourMap, background });
      download(fileName, content, content.type);
      onSaved(`Saved ${fileName}${remark === null ? '' : `: ${remark}`}.`);
    } catch (thrown) {
      // The notice stands in the drawer.
      actions.fault(thrown);
      onSaved('');
    } finally {
      setBusy(null);
    }
  };
  return (
    <section className="figure-menu" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>Figures</h3>
      <div className="figure-choices">
        <label>
          <span>Width</span>
          <select className="select" value={width} onChange={(event) => setWidth(event.target.value as FigureWidth)}>
            {Object.entries(SHEETS).map(([name, sheet]) => <option key={name} value={name}>{`${sheet.name}, ${sheet.inches}`}</option>)}
          </select>
        </label>
        <label>
          <span>Colours</span>
          <select className="select" value={colourMap} onChange={(event) => setMap(event.target.value as ColourMap)}>
            {COLOUR_MAP_NAMES.map((map) => <option key={map} value={map}>{COLOUR_MAPS[map].name}</option>)}
          </select>
        </label>
        <label>
          <span>Background</span>
          <select className="select" value={background} onChange={(event) => setBackground(event.target.value as FigureOptions['background'])}>
            <option value="white">White</option>
            <option value="none">None</option>
          </select>
        </label>
      </div>
      <ul className="figure-rows">
        {FIGURE_ROWS.map((row) => {
          const missing = row.missing(inputs);
          return (
            <li key={row.id}>
              <h4 id={`${id}-${row.id}`}>{row.name}</h4>
              {missing === null ? null : <p className="muted">{missing}</p>}
              <div className="figure-buttons">
                {row.files.map((file) => (
                  <button key={file.label} type="button" className="button small" disabled={missing !== null || busy !== null} aria-busy={busy === `${row.id} ${file.label}`} aria-describedby={`${id}-${row.id}`} onClick={() => void save(row.id, file)}>
                    {file.label}
                  </button>
                ))}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
