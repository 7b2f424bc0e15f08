import { around } from 'geokdbush';
import { Kept } from '../kept.ts';
import { openCountries } from './countries.ts';
import { fold } from '../fold.ts';
import { readGazetteer, type Gazetteer } from './gazetteer.ts';
import { readNames, type Names } from './names.ts';
import { printLabel, type PlaceResult, type Places } from './places.ts';

/** Farther than this a town says nothing about a point. */
const NEAR_KM = 250;
/** Towns with the same beginning of a name that a search looks at. */
const MOST_CANDIDATES = 2_000;
/** A search takes at most this many of its first words for a town's name. */
const MOST_WORDS = 30;

const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

function placeOf(gazetteer: Gazetteer, position: number): PlaceResult {
  const country = countryNames.of(gazetteer.countries[position] ?? '') ?? '';
  const region = gazetteer.regions[position] ?? '';
  const municipality = gazetteer.names[position] ?? '';
  return {
    label: printLabel(municipality, region, country),
    latitude: gazetteer.latitudes[position] ?? 0,
    longitude: gazetteer.longitudes[position] ?? 0,
    country,
    ...(region === '' ? {} : { region }),
    municipality,
  };
}

/** Whether each of the words begins a word of what lies around the town: its region, district or country. */
function lies(gazetteer: Gazetteer, position: number, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const code = gazetteer.countries[position] ?? '';
  const around = ` ${fold(`${gazetteer.regions[position]} ${gazetteer.districts[position]} ${countryNames.of(code)} ${code}`)}`;
  return words.every((word) => around.includes(` ${word}`));
}

/** Positions of towns that fit the words, at most `most`: as many words as possible are the name, the rest say where the town lies. */
function candidates(gazetteer: Gazetteer, names: Names, words: readonly string[], most: number): number[] {
  for (let length = Math.min(words.length, MOST_WORDS); length > 0; length -= 1) {
    const rest = words.slice(length);
    const fitting: number[] = [];
    let looked = 0;
    for (const town of names.towns(words.slice(0, length).join(' '))) {
      const position = names.positions[town] ?? 0;
      if (lies(gazetteer, position, rest)) fitting.push(position);
      looked += 1;
      if (fitting.length === most || looked === MOST_CANDIDATES) break;
    }
    if (fitting.length > 0) return fitting;
  }
  return [];
}

/**
 * Places from the GeoNames data package and the names beside it in `namesFile`, each read at the first use. Names are those of towns; there are no streets
 * and no postal codes.
 */
export function openEmbeddedPlaces(namesFile: string): Places {
  const gazetteer = new Kept(readGazetteer);
  const names = new Kept(() => readNames(namesFile));
  // borders tell the country, not the nearest town: near a border that town is often across it
  const countries = new Kept(async () => {
    const { within } = await gazetteer.get();
    return openCountries((code) => within.has(code));
  });
  return {
    search: async (text, most) => {
      const [data, known] = await Promise.all([gazetteer.get(), names.get()]);
      const words = fold(text)
        .split(' ')
        .filter((word) => word !== '');
      return candidates(data, known, words, most).map((position) => placeOf(data, position));
    },
    at: async (latitude, longitude) => {
      const data = await gazetteer.get();
      const code = (await countries.get())(latitude, longitude);
      if (code === null) return null;
      const towns = data.within.get(code);
      const [member] = towns ? around(towns.index, longitude, latitude, 1, NEAR_KM) : [];
      const nearest = member === undefined ? undefined : towns?.positions[member];
      if (nearest !== undefined) return { ...placeOf(data, nearest), latitude, longitude };
      const country = countryNames.of(code) ?? code;
      return { label: country, latitude, longitude, country };
    },
  };
}
