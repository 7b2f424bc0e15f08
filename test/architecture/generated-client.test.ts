import { expect, test } from 'vitest';
import { complainOf } from '../support/generated-client.ts';

const place = {
  id: 'a',
  name: 'North field',
  latitude: 51.97,
  longitude: 5.66,
  createdAt: '2026-11-01T10:00:00.000Z',
  updatedAt: '2026-11-01T10:00:00.000Z',
};
const complain = (change: object) => complainOf('listLocations', [{ ...place, ...change }]);

test('the generated client tells absent from null, and complains of what is missing, unknown or of another type', async () => {
  expect(await complain({})).toBeNull();
  expect(await complain({ region: 'Gelderland' })).toBeNull();
  expect(await complain({ region: null })).toContain('region');
  expect(await complain({ name: undefined })).toContain('name');
  expect(await complain({ name: null })).toContain('name');
  expect(await complain({ latitude: '51.97' })).toContain('latitude');
  expect(await complain({ height: 12 })).toContain('height');
  expect(await complainOf('listNothing', [])).toContain('zListNothingResponse');
});
