import { around } from 'geokdbush';
import { openCountries, type Countries } from './countries.ts';
import { fold, readGazetteer, type Gazetteer } from './gazetteer.ts';
import { labelOf, type Place, type Places } from './places.ts';

/** Farther than this a town says nothing about a point. */
const NEAR_KM = 250;
/** Towns with the same beginning of a name that a search looks at. */
const MOST_CANDIDATES = 2_000;
/** Of these, how many are ranked by what surrounds them. */
const MOST_WEIGHED = 60;
const NEIGHBOURS = 400;

const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

function placeOf(gazetteer: Gazetteer, position: number): Place {
  const country = countryNames.of(gazetteer.countries[position] ?? '') ?? '';
  const region = gazetteer.regions[position] ?? '';
  const municipality = gazetteer.names[position] ?? '';
  return {
    label: labelOf(municipality, region, country),
    latitude: gazetteer.latitudes[position] ?? 0,
    longitude: gazetteer.longitudes[position] ?? 0,
    country,
    ...(region === '' ? {} : { region }),
    municipality,
  };
}

/** The first position, in order of names, whose folded name is not below `text`. */
function lowerBound({ byName, folded }: Gazetteer, text: string): number {
  let low = 0;
  let high = byName.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((folded[byName[middle] ?? 0] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Towns whose name begins with `text`, the exact ones first. */
function startingWith(gazetteer: Gazetteer, text: string): number[] {
  const { byName, folded } = gazetteer;
  const found: number[] = [];
  for (let at = lowerBound(gazetteer, text); at < byName.length && found.length < MOST_CANDIDATES; at += 1) {
    const position = byName[at] ?? 0;
    if (!(folded[position] ?? '').startsWith(text)) break;
    found.push(position);
  }
  return found;
}

/** Whether each of the words begins a word of what lies around the town: its region, district or country. */
function lies(gazetteer: Gazetteer, position: number, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const code = gazetteer.countries[position] ?? '';
  const around = ` ${fold(`${gazetteer.regions[position]} ${gazetteer.districts[position]} ${countryNames.of(code)} ${code}`)}`;
  return words.every((word) => around.includes(` ${word}`));
}

/** Towns that fit the words: as many of them as possible are the name, the rest say where it lies. */
function candidates(gazetteer: Gazetteer, words: readonly string[]): number[] {
  for (let length = words.length; length > 0; length -= 1) {
    const found = startingWith(gazetteer, words.slice(0, length).join(' '));
    const fitting = found.filter((position) => lies(gazetteer, position, words.slice(length)));
    if (fitting.length > 0) return fitting;
  }
  return [];
}

/** How much is around a town: the data have no populations, and a city has many small towns about it. */
const weightOf = ({ index, longitudes, latitudes }: Gazetteer, position: number): number =>
  around(index, longitudes[position] ?? 0, latitudes[position] ?? 0, NEIGHBOURS, 30).length;

/** Places from the GeoNames data package, read at the first use. Names are those of towns; there are no streets and no postal codes. */
export function openEmbeddedPlaces(): Places {
  let reading: Promise<Gazetteer> | undefined;
  let opening: Promise<Countries> | undefined;
  const gazetteer = () => (reading ??= readGazetteer());
  // the country by its borders, not by the nearest town: near a border that is often across it
  const countries = (data: Gazetteer) => (opening ??= openCountries((code) => data.within.has(code)));
  return {
    search: async (text, most) => {
      const data = await gazetteer();
      const words = fold(text)
        .split(' ')
        .filter((word) => word !== '');
      const name = words.join(' ');
      // a longer name is further from what was asked; of equal ones the town with more around it comes first
      const length = (position: number) => (data.folded[position] ?? '').length;
      const nearest = candidates(data, words).sort((a, b) => length(a) - length(b));
      const weighed = nearest.slice(0, MOST_WEIGHED).map((position) => ({ position, weight: weightOf(data, position) }));
      const exact = (position: number) => (name.startsWith(data.folded[position] ?? '\0') ? 0 : 1);
      weighed.sort((a, b) => exact(a.position) - exact(b.position) || b.weight - a.weight);
      return [...weighed.map(({ position }) => position), ...nearest.slice(MOST_WEIGHED)]
        .slice(0, most)
        .map((position) => placeOf(data, position));
    },
    at: async (latitude, longitude) => {
      const data = await gazetteer();
      const code = (await countries(data))(latitude, longitude);
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
