/** Inspector, tab Cell: the figures of each calibration batch. */
import { significant, signed } from '../../base/units';
import type { Measured } from '../../graph/probe-record';

export function CellBatches({ result }: { readonly result: Measured }) {
  return (
    <section aria-label="Batch by batch">
      <h3>Batch by batch</h3>
      <div className="scroll" tabIndex={0} role="region" aria-label="Figures of each batch">
        <table className="table batches">
          <thead><tr><th scope="col">batch</th><th scope="col" className="number">angle, deg</th><th scope="col" className="number">shift, %</th><th scope="col" className="number">length</th><th scope="col" className="number">rotation</th><th scope="col" className="number">loss, nats</th></tr></thead>
          <tbody>
            {result.perBatch.map((batch, k) => (
              <tr key={k}>
                <th scope="row">{k}</th>
                <td className="number">{significant(batch.angleDeg)}</td>
                <td className="number">{(100 * batch.relativeShift).toFixed(2)}</td>
                <td className="number">{significant(batch.lengthRatio, 4)}</td>
                <td className="number">{significant(batch.rotationShare)}</td>
                <td className="number">{batch.lossChange === 0 ? '0' : signed(batch.lossChange, (nats) => significant(nats, 2))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
