/** The measuring worker's entry: the composition root of the browser side. */
import { exposeWorker } from '../bridge/worker-server';
import { MeasuringWorker } from './measuring-worker';

exposeWorker(new MeasuringWorker());
