import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

describe('looking up places', () => {
  test('GET /api/v1/locations/search', async () => {
    const call = site.as(site.cast.stranger);
    const answer = await call('GET', '/api/v1/locations/search', { query: { query: 'Wageningen', maxResults: 2.5 } });
    expect(answer.status).toBe(200);
    expect(answer.body.length).toBeLessThanOrEqual(2);
    expect(answer.body[0]).toEqual({
      label: 'Wageningen, Gelderland, Netherlands',
      latitude: expect.closeTo(51.97, 1),
      longitude: expect.closeTo(5.67, 1),
      country: 'Netherlands',
      region: 'Gelderland',
      municipality: 'Wageningen',
    });
    for (const query of [
      {},
      { query: '' },
      { query: 'x', maxResults: 0 },
      { query: 'x', maxResults: 51 },
      { query: 'x'.repeat(201) },
    ] as unknown as Record<string, string>[])
      expect((await call('GET', '/api/v1/locations/search', { query })).status).toBe(400);
    expect((await site.as(null)('GET', '/api/v1/locations/search', { query: { query: 'x' } })).status).toBe(401);
  });

  test.each([
    ['東京', 'Tokyo', 'Japan'],
    ['München', 'Munich', 'Germany'],
    ['Munchen', 'Munich', 'Germany'],
    ['Muenchen', 'Munich', 'Germany'],
    ['Wien', 'Vienna', 'Austria'],
    ['Roma', 'Rome', 'Italy'],
    ['Den Haag', 'The Hague', 'Netherlands'],
    ['Praha', 'Prague', 'Czechia'],
    ['Firenze', 'Florence', 'Italy'],
    ['Kobenhavn', 'Copenhagen', 'Denmark'],
    ['København', 'Copenhagen', 'Denmark'],
    ['Moskva', 'Moscow', 'Russia'],
    ['Москва', 'Moscow', 'Russia'],
    ['القاهرة', 'Cairo', 'Egypt'],
    ['서울', 'Seoul', 'South Korea'],
  ])('finds %s as %s', async (query, municipality, country) => {
    const answer = await site.as(site.cast.stranger)('GET', '/api/v1/locations/search', { query: { query } });
    expect(answer.status).toBe(200);
    expect(answer.body[0]).toMatchObject({ municipality, country });
    expect(answer.body[0].label).toMatch(new RegExp(`^${municipality}, `));
  });

  test('finds nothing by nonsense', async () => {
    const answer = await site.as(site.cast.stranger)('GET', '/api/v1/locations/search', { query: { query: '東京qqqzzz' } });
    expect(answer).toMatchObject({ status: 200, body: [] });
  });

  test('GET /api/v1/locations/geocode', async () => {
    const call = site.as(site.cast.stranger);
    const answer = await call('GET', '/api/v1/locations/geocode', { query: { latitude: 52.0907, longitude: 5.1214 } });
    expect(answer).toMatchObject({
      status: 200,
      body: [{ latitude: 52.0907, longitude: 5.1214, country: 'Netherlands', region: 'Utrecht' }],
    });
    expect((await call('GET', '/api/v1/locations/geocode', { query: { latitude: -40, longitude: -100 } })).body).toEqual([]);
    for (const query of [
      { latitude: 91, longitude: 0 },
      { latitude: 0, longitude: -181 },
      { latitude: 0 },
      { latitude: 'x', longitude: 0 },
    ] as unknown as Record<string, string>[])
      expect((await call('GET', '/api/v1/locations/geocode', { query })).status).toBe(400);
    expect((await site.as(null)('GET', '/api/v1/locations/geocode', { query: { latitude: 0, longitude: 0 } })).status).toBe(401);
  });

  test('with the provider down is 503, and experiments still save their places', async () => {
    const other = await startTestServer({ PLACES_URL: 'http://127.0.0.1:9', PLACES_KIND: 'nominatim' });
    try {
      const call = other.as(other.cast.owner);
      expect(await call('GET', '/api/v1/locations/search', { query: { query: 'Utrecht' } })).toMatchObject({
        status: 503,
        body: { code: 'PLACES_UNAVAILABLE' },
      });
      expect(await call('GET', '/api/v1/locations/geocode', { query: { latitude: 52, longitude: 5 } })).toMatchObject({
        status: 503,
        body: { code: 'PLACES_UNAVAILABLE' },
      });
      const locations = [{ name: 'Field', latitude: 52, longitude: 5, country: 'Netherlands' }];
      expect(await call('POST', '/api/v1/experiments', { body: { name: 'Saved', locations } })).toMatchObject({
        status: 201,
        body: { locations },
      });
    } finally {
      await other.stop();
    }
  });
});
