import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let id: string;
let path: string;
beforeAll(async () => {
  site = await startTestServer();
  const body = { name: 'Located', organizationId: site.cast.leafLab };
  id = (await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body })).body.id;
  path = `/api/v1/experiments/${id}/locations`;
  await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
});
afterAll(() => site.stop());

const whole = {
  name: 'Field 4',
  latitude: 52.09012345,
  longitude: -5.5,
  country: 'Netherlands',
  region: 'Utrecht',
  municipality: 'De Bilt',
  postalCode: '3584 CS',
  addressLabel: 'Behind the barn',
};

describe('places of an experiment', () => {
  test('POST /api/v1/experiments/{id}/locations adds, and answers the new ones with every field', async () => {
    const owner = site.as(site.cast.owner);
    const before = (await owner('GET', `/api/v1/experiments/${id}`)).headers.get('etag');
    const first = await owner('POST', path, { body: { locations: [whole] } });
    expect(first).toMatchObject({ status: 201 });
    expect(first.body).toEqual([
      {
        ...whole,
        id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/),
        createdAt: expect.stringMatching(/\.\d{3}Z$/),
        updatedAt: expect.any(String),
      },
    ]);
    const more = [
      { name: 'B', latitude: 90, longitude: 180 },
      { name: 'A', latitude: -90, longitude: -180 },
    ];
    const second = await owner('POST', path, { body: { locations: more } });
    expect(second.body.map(({ name }: { name: string }) => name)).toEqual(['B', 'A']);
    expect(Object.keys(second.body[0]).sort()).toEqual(['createdAt', 'id', 'latitude', 'longitude', 'name', 'updatedAt']);
    expect((await owner('POST', path, { body: { locations: [] } })).body).toEqual([]);
    expect((await owner('GET', `/api/v1/experiments/${id}`)).headers.get('etag')).not.toBe(before);
    expect(
      (await owner('PATCH', `/api/v1/experiments/${id}`, { body: { description: 'x' }, headers: { 'if-match': before ?? '' } })).status,
    ).toBe(412);
  });

  test('GET /api/v1/experiments/{id}/locations lists them in order, in pages', async () => {
    const viewer = site.as(site.cast.viewer);
    const all = await viewer('GET', path);
    expect(all.body.map(({ name }: { name: string }) => name)).toEqual(['Field 4', 'B', 'A']);
    expect(all.headers.get('x-total-count')).toBe('3');
    expect((await viewer('GET', path, { query: { page: 2, pageSize: 2 } })).body).toHaveLength(1);
    expect((await viewer('GET', path, { query: { pageSize: 0 } })).status).toBe(400);
    expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
  });

  test('PUT /api/v1/experiments/{id}/locations replaces them all; an empty list clears, an empty body changes nothing', async () => {
    const owner = site.as(site.cast.owner);
    const replaced = await owner('PUT', path, { body: { locations: [{ ...whole, name: 'Only' }] } });
    expect(replaced).toMatchObject({ status: 200, body: [{ name: 'Only' }] });
    expect((await owner('PUT', path, { body: {} })).body).toEqual(replaced.body);
    const read = { 'if-match': (await owner('GET', `/api/v1/experiments/${id}`)).headers.get('etag')! };
    const again = { body: { locations: [{ ...whole, name: 'Again' }] }, headers: read };
    expect((await owner('PUT', path, again)).status).toBe(200);
    expect((await owner('PUT', path, again)).status).toBe(412);
    expect((await owner('PUT', path, { body: { locations: [] } })).body).toEqual([]);
    expect((await owner('GET', path)).body).toEqual([]);
  });

  test('refuses values out of range, members, too many, and archived experiments', async () => {
    const owner = site.as(site.cast.owner);
    const one = { name: 'x', latitude: 0, longitude: 0 };
    for (const bad of [
      { latitude: 90.1 },
      { longitude: -180.5 },
      { name: '' },
      { name: 'x'.repeat(256) },
      { country: 'x'.repeat(101) },
      { postalCode: 'x'.repeat(21) },
    ])
      expect((await owner('POST', path, { body: { locations: [{ ...one, ...bad }] } })).status).toBe(400);
    expect((await owner('POST', path, { body: {} })).status).toBe(400);
    expect((await site.as(site.cast.viewer)('POST', path, { body: { locations: [one] } })).status).toBe(403);
    expect((await owner('POST', path, { body: { locations: Array.from({ length: 1_000 }, () => one) } })).status).toBe(201);
    expect(await owner('POST', path, { body: { locations: [one] } })).toMatchObject({ status: 409, body: { code: 'TOO_MANY_LOCATIONS' } });
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    expect(await owner('PUT', path, { body: { locations: [] } })).toMatchObject({ status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } });
    expect((await owner('POST', path, { body: { locations: [] } })).status).toBe(409);
    expect((await owner('GET', path)).body).toHaveLength(1_000);
  });
});
