/** The inspector before a cell is chosen: the four steps of the way. */
import { RECIPES } from '../../graph/recipes';
import { formatName, sitesOf } from '../../state';
import { useFacts } from '../workbench';

export function StartHere() {
  const graph = useFacts((f) => f.graph);
  const recipe = useFacts((f) => f.recipe);
  const count = graph ? sitesOf(graph, recipe).length : 0;
  const low = formatName(recipe);
  const isOut = RECIPES[recipe].kind === 'out';
  return (
    <div className="start-here">
      <h3>Start here</h3>
      <ol>
        <li><strong>Look.</strong> Each cell is one {isOut ? 'op output' : 'matrix product of training'}. Its colour says how many degrees the whole gradient turns when only {isOut ? 'that output and its arriving gradient are' : 'that product runs'} in {low}. Choose a cell to see every figure.</li>
        <li><strong>Measure.</strong> Press <em>Run on this GPU</em>: {count} cells, measured here, cell by cell. Nothing leaves this tab.</li>
        <li><strong>Decide.</strong> Paint cells BF16 or {low}, lock some, or drag a budget handle and watch cells flip.</li>
        <li><strong>Verify and export.</strong> <em>Verify jointly</em> measures the whole plan at once and shows the gap to the prediction.</li>
      </ol>
    </div>
  );
}
