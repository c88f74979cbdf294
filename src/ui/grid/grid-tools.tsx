/** Row above the grid: the brush in hand, cell actions, the fill's colour map, and the legend with its two handles. */
import { memo, useMemo, useState } from 'react';
import { significant } from '../../base/units';
import type { SiteFormat } from '../../graph/policy';
import { fillOf, FILLS, FILL_WORDS, formatName, lowFormatsOf, type Fill, type Shown } from '../../state';
import { useFacts, useView, useWorkbench } from '../workbench';
import { Slider } from '../budget/slider';
import { HeatLegend, LEGEND_HEIGHT } from '../charts/heat-legend';
import { ANGLE_DOMAIN, COLOUR_MAP_NAMES, COLOUR_MAPS, logPosition, logValue, type ColourMap } from '../charts/scales';
import { brushLabel, type Brush } from './brushes';

function brushesOf(shown: Pick<Shown, 'recipe' | 'second' | 'options'>): readonly { readonly brush: Brush; readonly label: string; readonly title: string }[] {
  const { recipe, second } = shown;
  const low = lowFormatsOf(shown).map((format): { readonly brush: Brush; readonly format: SiteFormat } => ({ brush: format === second ? 'second' : 'low', format }));
  return [
    { brush: null, label: 'Select', title: 'Dragging selects cells' },
    { brush: 'high', label: 'Paint B', title: 'Dragging paints cells BF16' },
    ...low.map(({ brush, format }) => ({ brush, label: `Paint ${brushLabel(shown, format)}`, title: `Dragging paints cells ${formatName(format)}${format === recipe ? '' : ', the second format'}` })),
  ];
}

interface GridToolsProps {
  /** What the fill says, or what is going on. */
  readonly subtitle: string;
  /** In the difference view: B against A in words, in the place of the fill. */
  readonly difference: string | null;
  openMenu(x: number, y: number): void;
}

export const GridTools = memo(function GridTools({ subtitle, difference, openMenu }: GridToolsProps) {
  const { view } = useWorkbench();
  const inHand = useView((v) => v.brush);
  const palette = useView((v) => v.palette);
  const fill = useView((v) => v.fill);
  const facts = useFacts((f) => f);
  const hasPrimary = useView((v) => v.primary !== null);
  return (
    <div className="grid-tools">
      {difference !== null ? <p className="grid-difference">{difference}</p> : (
        <div className="grid-fill">
          <label className="grid-map">
            <span className="visually-hidden">What fills the cells</span>
            <select className="grid-fill-choice" value={fill} onChange={(event) => view.setState({ fill: event.target.value as Fill })}>
              {FILLS.map((name) => <option key={name} value={name}>{FILL_WORDS[name].name}</option>)}
            </select>
          </label>
          <p className="grid-subtitle" title={subtitle}>{subtitle}</p>
        </div>
      )}
      <div className="grid-buttons">
        <div className="segmented" role="group" aria-label="What dragging on the grid does">
          {brushesOf(facts).map(({ brush, label, title }) => (
            <button key={label} type="button" aria-pressed={inHand === brush} title={title} onClick={() => view.setState({ brush })}>{label}</button>
          ))}
        </div>
        <button type="button" className="button quiet" aria-haspopup="menu" disabled={!hasPrimary} onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          openMenu(box.left, box.bottom + 4);
        }}>
          Cell actions
        </button>
        <label className="grid-map" title="Colours of the fill">
          <span className="visually-hidden">Colours of the fill</span>
          <select value={palette} onChange={(event) => view.setState({ palette: event.target.value as ColourMap })}>
            {COLOUR_MAP_NAMES.map((map) => <option key={map} value={map}>{COLOUR_MAPS[map].name}</option>)}
          </select>
        </label>
      </div>
      <Legend />
    </div>
  );
});

const LEGEND_WIDTH = 280;

function Legend() {
  const { view } = useWorkbench();
  const facts = useFacts((f) => f);
  const fill = useView((v) => v.fill);
  const palette = useView((v) => v.palette);
  const range = useView((v) => v.range);
  const current = useView((v) => v.hovered ?? v.primary);
  const { floor, recipe } = facts;
  // The floor is one of the gradient's turn.
  const hasFloor = fill === 'isolated' || fill === 'leave-one-out';
  const cells = fillOf(facts, fill);
  const angles = useMemo(() => [...cells.values()].flatMap(({ angleDeg }) => (angleDeg === null ? [] : [angleDeg])), [cells]);
  const now = current === null ? null : (cells.get(current)?.angleDeg ?? null);
  // A negative angle has no place on a scale of logarithms.
  const coloured = useMemo(() => angles.filter((angleDeg) => angleDeg >= 0), [angles]);
  const summary = angles.length === 0 ? 'no cell is measured' : `${angles.length} cells, ${significant(Math.min(...angles))} to ${significant(Math.max(...angles))} degrees`;
  return (
    <figure className="legend-box" style={{ width: LEGEND_WIDTH, height: LEGEND_HEIGHT }} aria-label={`Legend and histogram: ${FILL_WORDS[fill].name} (${formatName(recipe)}), ${summary}${hasFloor && floor ? `; noise floor forward ${significant(floor.forwardDeg)}, backward ${significant(floor.backwardDeg)} degrees` : ''}`}>
      <HeatLegend
        width={LEGEND_WIDTH} anglesDeg={coloured} range={range} colourMap={palette}
        floorForwardDeg={(hasFloor && floor?.forwardDeg) || null} floorBackwardDeg={(hasFloor && floor?.backwardDeg) || null}
        currentDeg={now !== null && now >= 0 ? now : null}
      />
      {(['from', 'to'] as const).map((end) => (
        <RangeHandle key={end} end={end} range={range} onRange={(next) => view.setState({ range: next })} />
      ))}
    </figure>
  );
}

/** Decades a key press moves a handle by. */
const KEY_STEP = 0.05;

function RangeHandle({ end, range, onRange }: { readonly end: 'from' | 'to'; readonly range: readonly [number, number]; onRange(range: readonly [number, number]): void }) {
  const [start, setStart] = useState(range);
  const value = range[end === 'from' ? 0 : 1];
  const set = (fraction: number): void => {
    const deg = Math.min(ANGLE_DOMAIN[1], Math.max(ANGLE_DOMAIN[0], logValue(fraction, ANGLE_DOMAIN)));
    onRange(end === 'from' ? [Math.min(deg, range[1]), range[1]] : [range[0], Math.max(deg, range[0])]);
  };
  const fraction = logPosition(value, ANGLE_DOMAIN);
  return (
    <Slider
      className={`range-handle range-${end}`}
      label={end === 'from' ? 'Dim cells that bend less than' : 'Dim cells that bend more than'}
      orientation="horizontal" fraction={fraction} value={Number(significant(value))} min={ANGLE_DOMAIN[0]} max={ANGLE_DOMAIN[1]} valueText={`${significant(value)} degrees`}
      onDrag={set}
      onStep={(by) => set(Number.isFinite(by) ? fraction + KEY_STEP * by : by > 0 ? 1 : 0)}
      onCommit={() => setStart(range)}
      onCancel={() => onRange(start)}
    />
  );
}
