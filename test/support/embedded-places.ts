import { join } from 'node:path';
import { openEmbeddedPlaces } from '../../src/places/embedded.ts';
import type { Places } from '../../src/places/places.ts';

/** The places that a service has without a server of places. */
export const embeddedPlaces = (): Places => openEmbeddedPlaces(join(import.meta.dirname, '../../src/places/data/names.br'));
