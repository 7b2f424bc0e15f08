import { beforeAll, expect, test } from 'vitest';
import { readAirports, type Airport } from '../support/airports.ts';
import { embeddedPlaces } from '../support/embedded-places.ts';

const names = new Intl.DisplayNames(['en'], { type: 'region' });
const places = embeddedPlaces();
let airports: Airport[];
beforeAll(() => {
  airports = readAirports();
});

const POPULATIONS: [string, number, (airport: Airport) => boolean][] = [
  ['off towns', 300, ({ offTowns }) => offTowns],
  ['within 10 km of a border', 100, ({ nearBorder }) => nearBorder],
  ['off towns or within 10 km of a border', 400, () => true],
];

test.each(POPULATIONS)('the country of airports %s is the one of their register', async (population, least, belongs) => {
  const asked = airports.filter(belongs);
  const wrong: string[] = [];
  for (const { code, country, latitude, longitude } of asked) {
    const found = (await places.at(latitude, longitude))?.country;
    if (found !== names.of(country)) wrong.push(`${code} at ${latitude}, ${longitude}: ${country}, not ${found}`);
  }
  const right = 1 - wrong.length / asked.length;
  process.stdout.write(`right country, ${population}: ${(right * 100).toFixed(2)} % of ${asked.length}\n`);
  expect(asked.length).toBeGreaterThanOrEqual(least);
  expect(right, wrong.join('\n')).toBeGreaterThanOrEqual(0.97);
});

test.each([
  ['a country in an enclave', 43.9424, 12.4578, 'San Marino'],
  ['a country without a time zone of its own', 42.6629, 21.1655, 'Kosovo'],
  ['a zone that has a new name', 27.7172, 85.324, 'Nepal'],
  ['an exclave behind a river', 4.117, 19.217, 'Congo - Kinshasa'],
  ['a continent that is claimed', -64.2383, -56.6308, 'Antarctica'],
  ['the date line', -16.5, 180, 'Fiji'],
  ['the pole', 90, 0, undefined],
])('knows %s', async (_, latitude, longitude, country) => {
  expect((await places.at(latitude, longitude))?.country).toBe(country);
});
