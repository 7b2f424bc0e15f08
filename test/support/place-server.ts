import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlaceResult, Places } from '../../src/places/places.ts';

export type Fault = 'none' | 'error' | 'hang' | 'cut' | 'garbage' | 'endless' | 'redirect';

const photon = (places: readonly PlaceResult[]) => ({
  type: 'FeatureCollection',
  features: places.map(({ latitude, longitude, country, region, municipality, postalCode }) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: { name: municipality, type: 'city', city: municipality, state: region, country, postcode: postalCode, osm_id: 1 },
  })),
});

const nominatim = (places: readonly PlaceResult[]) =>
  places.map(({ label, latitude, longitude, country, region, municipality }) => ({
    place_id: 1,
    lat: String(latitude),
    lon: String(longitude),
    display_name: label,
    address: { town: municipality, state: region, country },
  }));

/** A server on loopback that speaks Photon's or Nominatim's protocol, answers from an index, counts what it is asked, and can be made to fail. */
export async function startPlaceServer(kind: 'photon' | 'nominatim', places: Places) {
  const state = { fault: 'none' as Fault, asked: 0 };
  const reply = async (url: URL, response: ServerResponse) => {
    const { searchParams: query } = url;
    const reverse = url.pathname === '/reverse';
    const found = reverse
      ? [await places.at(Number(query.get('lat')), Number(query.get('lon')))].filter((place) => place !== null)
      : await places.search(query.get('q') ?? '', Number(query.get('limit')));
    const answer =
      kind === 'photon' ? photon(found) : !reverse ? nominatim(found) : (nominatim(found)[0] ?? { error: 'Unable to geocode' });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  };
  const server = createServer((request, response) => {
    state.asked += 1;
    if (state.fault === 'error') response.writeHead(500).end('broken');
    else if (state.fault === 'cut') response.writeHead(200).write('{"features":[', () => response.destroy());
    else if (state.fault === 'garbage') response.end('<html>');
    else if (state.fault === 'redirect') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (state.fault === 'endless') {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    } else if (state.fault === 'none') void reply(new URL(request.url ?? '/', 'http://localhost'), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
