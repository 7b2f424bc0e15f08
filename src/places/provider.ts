import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { errors } from '../errors.ts';
import { readJson } from '../json.ts';
import { printLabel, type PlaceResult, type Places } from './places.ts';

export type ProviderKind = 'photon' | 'nominatim';

interface ProviderOptions {
  /** `https://photon.example.org`, without a trailing slash. */
  url: string;
  kind: ProviderKind;
  /** Milliseconds for an answer; 3000 by default. */
  timeoutMs?: number;
  /** Failures in a row after which the server is left alone for `restMs`; 5 by default. */
  mostFailures?: number;
  /** Milliseconds; 30 000 by default. */
  restMs?: number;
}

const LARGEST_ANSWER = 2_000_000;
const MOST_CACHED = 5_000;
const CACHED_MS = 24 * 3_600_000;

const text = z.string().optional().catch(undefined);
const point = z.coerce.number().min(-180).max(180);

const photon = z.object({
  features: z.array(
    z.object({
      geometry: z.object({ coordinates: z.array(point).min(2) }),
      properties: z.object({
        name: text,
        street: text,
        housenumber: text,
        city: text,
        district: text,
        county: text,
        state: text,
        country: text,
        postcode: text,
        type: text,
      }),
    }),
  ),
});

const nominatimPlace = z.object({
  lat: point,
  lon: point,
  display_name: text,
  address: z
    .object({
      city: text,
      town: text,
      village: text,
      municipality: text,
      hamlet: text,
      county: text,
      state: text,
      region: text,
      country: text,
      postcode: text,
    })
    .default({}),
});

const known = (parts: { country?: string; region?: string; municipality?: string; postalCode?: string }) =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined && value !== ''));

function fromPhoton(answer: unknown): PlaceResult[] {
  return photon.parse(answer).features.map(({ geometry, properties: p }) => {
    const municipality = p.city ?? (p.type === 'city' ? p.name : (p.district ?? p.county));
    const [longitude = 0, latitude = 0] = geometry.coordinates;
    const street = p.street === undefined ? undefined : printLabel([p.street, p.housenumber].filter(Boolean).join(' '));
    return {
      label: printLabel(p.name, street, p.city, p.state, p.country),
      latitude,
      longitude,
      ...known({ country: p.country, region: p.state, municipality, postalCode: p.postcode }),
    };
  });
}

function fromNominatim(answer: unknown): PlaceResult[] {
  // a point in the sea answers {"error": "Unable to geocode"}
  if (typeof answer === 'object' && answer !== null && 'error' in answer) return [];
  return z
    .array(nominatimPlace)
    .parse(Array.isArray(answer) ? answer : [answer])
    .map(({ lat, lon, display_name: label, address: a }) => {
      const municipality = a.city ?? a.town ?? a.village ?? a.municipality ?? a.hamlet ?? a.county;
      const region = a.state ?? a.region;
      return {
        label: label ?? printLabel(municipality, region, a.country),
        latitude: lat,
        longitude: lon,
        ...known({ country: a.country, region, municipality, postalCode: a.postcode }),
      };
    });
}

type Query = Record<string, string | number>;
const PATHS: Record<
  ProviderKind,
  { search: (text: string, most: number) => [string, Query]; at: (lat: number, lon: number) => [string, Query] }
> = {
  photon: {
    search: (q, limit) => ['/api', { q, limit, lang: 'en' }],
    at: (lat, lon) => ['/reverse', { lat, lon, limit: 1, lang: 'en' }],
  },
  nominatim: {
    search: (q, limit) => ['/search', { q, limit, format: 'jsonv2', addressdetails: 1, 'accept-language': 'en' }],
    at: (lat, lon) => ['/reverse', { lat, lon, format: 'jsonv2', addressdetails: 1, 'accept-language': 'en' }],
  },
};

async function readBounded(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new Error('the answer of the place server is too large');
    chunks.push(chunk);
  }
  return readJson(Buffer.concat(chunks).toString('utf8'));
}

/**
 * Places from a Photon or Nominatim server. Answers are kept for a day; a server that keeps failing is left alone for a while, so that callers are
 * refused at once and not after a time-out each.
 */
export function openProvidedPlaces(options: ProviderOptions): Places {
  const { url, kind, timeoutMs = 3_000, mostFailures = 5, restMs = 30_000 } = options;
  const cache = new LRUCache<string, PlaceResult[]>({ max: MOST_CACHED, ttl: CACHED_MS });
  let failures = 0;
  let restingUntil = 0;

  const ask = async ([path, query]: [string, Query]): Promise<PlaceResult[]> => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const key = `${path}?${search.toString()}`;
    const kept = cache.get(key);
    if (kept) return kept;
    const rest = restingUntil - performance.now();
    if (rest > 0) throw errors.placesUnavailable().with({ retryAfter: rest / 1_000 });
    try {
      const response = await fetch(`${url}${key}`, {
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
        headers: { accept: 'application/json', 'user-agent': 'fieldlake' },
      });
      if (!response.ok) throw new Error(`the place server answered ${response.status}`);
      const answer = await readBounded(response);
      const places = kind === 'photon' ? fromPhoton(answer) : fromNominatim(answer);
      failures = 0;
      cache.set(key, places);
      return places;
    } catch (error) {
      failures += 1;
      if (failures >= mostFailures) restingUntil = performance.now() + restMs;
      throw errors.placesUnavailable().with({ retryAfter: failures >= mostFailures ? restMs / 1_000 : 1, cause: error });
    }
  };

  return {
    search: async (asked, most) => (await ask(PATHS[kind].search(asked, most))).slice(0, most),
    at: async (latitude, longitude) => {
      const [found] = await ask(PATHS[kind].at(latitude, longitude));
      return found ? { ...found, latitude, longitude } : null;
    },
  };
}
