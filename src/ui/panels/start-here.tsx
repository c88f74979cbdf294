/** The inspector before a cell is chosen: the four steps of the way. */
import { sitesOf } from '../../state';
import { useFacts } from '../workbench';

export function StartHere() {
  const graph = useFacts((f) => f.graph);
  const count = graph ? sitesOf(graph).length : 0;
  return (
    <div className="start-here">
      <h3>Start here</h3>
      <ol>
        <li><strong>Look.</strong> Each cell is one matrix product of training. Its colour says how many degrees the whole gradient turns when only that product runs in NVFP4. Choose a cell to see every figure.</li>
        <li><strong>Measure.</strong> Press <em>Run on this GPU</em>: {count} cells, measured here, cell by cell. Nothing leaves this tab.</li>
        <li><strong>Decide.</strong> Paint cells BF16 or NVFP4, lock some, or drag a budget handle and watch cells flip.</li>
        <li><strong>Verify and export.</strong> <em>Verify jointly</em> measures the whole plan at once and shows the gap to the prediction.</li>
      </ol>
    </div>
  );
}
