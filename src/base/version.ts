/** The version that goes into every result and export. */
import { version } from '../../package.json';

export const APP_VERSION: string = version;
