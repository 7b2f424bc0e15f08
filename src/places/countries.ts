import { LRUCache } from 'lru-cache';

/** Pieces of borders that are kept in memory, of some 40 kB each. */
const MOST_PIECES = 1_000;

/** Says in which country a point lies, as an ISO 3166-1 alpha-2 code (XK for Kosovo); null in the open sea. */
export type Countries = (latitude: number, longitude: number) => string | null;

/** A part of ECMA-402 that the compiler's library does not describe yet. */
type LocaleWithZones = Intl.Locale & { getTimeZones(): string[] | undefined };

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const zonesOf = (code: string) => (new Intl.Locale(`und-${code}`) as LocaleWithZones).getTimeZones() ?? [];

/** Codes of countries by the name of a time zone; a zone ends at the borders of its country. */
function countriesOfZones(): ReadonlyMap<string, string> {
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  const current = codes.filter((code) => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`);
  return new Map(current.flatMap((code) => zonesOf(code).map((zone) => [zone, code] as const)));
}

/**
 * Opens the borders of countries. They are those of the world's time zones, which are exact and end where countries end. Outlines can be wrong by tens of
 * kilometres, and decide only for countries that share their neighbour's zone. `hasTowns` tells whether a territory is known by itself or as its country.
 */
export async function openCountries(hasTowns: (code: string) => boolean): Promise<Countries> {
  const [{ find, setCache }, { iso1A2Code }] = await Promise.all([import('geo-tz/all'), import('@rapideditor/country-coder')]);
  setCache({ store: new LRUCache<string, object>({ max: MOST_PIECES }) });
  const byZone = countriesOfZones();
  const withZones = new Set(byZone.values());
  // the outline decides in Antarctica: no borders end there, but the zones of its stations are those of their claimants
  withZones.delete('AQ');
  const countryOf = new Map<string, string | undefined>();
  const zoned = (zone: string) => {
    // a zone of the sea belongs to nobody; other zones may have another name in `geo-tz` than in `Intl`
    if (!countryOf.has(zone))
      countryOf.set(zone, byZone.get(zone) ?? byZone.get(new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone));
    return countryOf.get(zone);
  };

  return (latitude, longitude) => {
    const territory = iso1A2Code([longitude, latitude], { level: 'territory' });
    const outlined = territory !== null && hasTowns(territory) ? territory : iso1A2Code([longitude, latitude]);
    if (outlined !== null && !withZones.has(outlined)) return outlined;
    const zones = find(latitude, longitude)
      .map(zoned)
      .filter((code) => code !== undefined);
    // zones overlap where borders are disputed
    if (outlined !== null && zones.includes(outlined)) return outlined;
    return zones[0] ?? outlined;
  };
}
