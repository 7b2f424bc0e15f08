import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { PlacesMap } from '../map/map.tsx';
import { words } from '../words.ts';
import { monitoringQuery, type DeviceListed, type Monitoring } from './queries.ts';
import { Connection, nameOf, When } from './state.tsx';

const said = words.devices;
const NARROW = 640;

interface Found {
  device: DeviceListed;
  latitude: number;
  longitude: number;
  at: string;
}

/** The place of the newest measurement that has one; undefined where none has. */
function positionOf(monitoring: Monitoring | undefined): Omit<Found, 'device'> | undefined {
  for (const { latitude, longitude, timestamp } of monitoring?.recentMeasurements ?? [])
    if (latitude !== null && longitude !== null) return { latitude, longitude, at: timestamp };
  return undefined;
}

interface Gathered {
  mark: string;
  latitude: number;
  longitude: number;
  devices: Found[];
}

/** Gathers devices by place, to about a kilometre. */
function gatherPlaces(found: readonly Found[]): Gathered[] {
  const places = new Map<string, Gathered>();
  for (const each of found) {
    const { latitude, longitude } = each;
    const key = `${latitude.toFixed(2)} ${longitude.toFixed(2)}`;
    const place = places.get(key) ?? { mark: String(places.size + 1), latitude, longitude, devices: [] };
    place.devices.push(each);
    places.set(key, place);
  }
  return [...places.values()];
}

/** Where the devices of a page last measured. */
export function FleetMap({ devices }: { devices: readonly DeviceListed[] }) {
  const asked = useQueries({ queries: devices.map(({ id }) => monitoringQuery(id, 31)) });
  const isWaiting = asked.some(({ isPending }) => isPending);
  const found = devices.flatMap((device, index) => {
    const position = positionOf(asked[index]?.data);
    return position === undefined ? [] : [{ device, ...position }];
  });
  const places = gatherPlaces(found);
  if (isWaiting)
    return (
      <p className="panel quiet" role="status">
        {words.waiting}
      </p>
    );
  if (places.length === 0)
    return (
      <div className="panel empty">
        <h2>{said.map.none}</h2>
        <p>{said.map.noneText}</p>
      </div>
    );
  return (
    <div className="panel">
      <PlacesMap name={said.map.name} places={places} isSmall={globalThis.innerWidth < NARROW} />
      <ol className="rows tight places" aria-label={said.map.list}>
        {places.map(({ mark, latitude, longitude, devices: here }) => (
          <li key={mark}>
            <span className="place-mark number" aria-hidden="true">
              {mark}
            </span>
            <div>
              {here.map(({ device, at }) => (
                <p key={device.id} className="facts">
                  <Link to="/devices/$device" params={{ device: device.id }}>
                    {nameOf(device)}
                  </Link>
                  <Connection connectivity={device.connectivity ?? null} />
                  <span className="small quiet">
                    <When at={at} says={said.lastData} never={null} />
                  </span>
                </p>
              ))}
            </div>
            <span className="small quiet number">{said.map.at(latitude.toFixed(4), longitude.toFixed(4))}</span>
          </li>
        ))}
      </ol>
      {found.length === devices.length ? null : <p className="small quiet">{said.map.without(devices.length - found.length)}</p>}
    </div>
  );
}
