/**
 * "Where the gradient turns": the angle of each layer's own parameters under one low site, as bars on the log scale and
 * in the colours of the grid. Never by colour alone: every bar carries its figure.
 */
import { cellFigure } from './heatmap';
import { ANGLE_DOMAIN, angleColour, logPosition, type ColourMap } from './scales';

export interface TurnBar {
  readonly label: string;
  readonly angleDeg: number;
  /** The layer of the site itself. */
  readonly isOwn: boolean;
}

export interface TurnBarsProps {
  readonly width: number;
  readonly bars: readonly TurnBar[];
  readonly colourMap: ColourMap;
  readonly label: string;
}

const HEIGHT = 62;

export function TurnBars({ width, bars, colourMap, label }: TurnBarsProps) {
  const step = width / Math.max(1, bars.length);
  const wide = step >= 26;
  return (
    <svg className="turns" width={width} height={HEIGHT + 30} role="img" aria-label={label}>
      {bars.map((bar, i) => {
        const height = Math.max(2, logPosition(bar.angleDeg, ANGLE_DOMAIN) * HEIGHT);
        return (
          <g key={bar.label}>
            <title>{`${bar.label}: ${bar.angleDeg.toPrecision(3)} deg`}</title>
            <rect x={i * step + 1.5} y={14 + HEIGHT - height} width={step - 3} height={height} fill={angleColour(colourMap, bar.angleDeg)} className="turn-bar" />
            {wide ? <text x={(i + 0.5) * step} y={10 + HEIGHT - height} textAnchor="middle" className="axis-text">{cellFigure(bar.angleDeg)}</text> : null}
            <text x={(i + 0.5) * step} y={HEIGHT + 27} textAnchor="middle" className={bar.isOwn ? 'axis-text axis-text-own' : 'axis-text'}>{wide || i % 2 === 0 ? bar.label : ''}</text>
          </g>
        );
      })}
      <line x1="0" x2={width} y1={HEIGHT + 14.5} y2={HEIGHT + 14.5} className="axis-line" />
    </svg>
  );
}
