import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { experimentQuery } from '../experiments/queries.ts';
import { agoText, countText, momentText } from '../shell/format.ts';
import { words } from '../words.ts';
import { activityQuery, type Measured, type Monitoring } from './queries.ts';
import { Releases } from './releases.tsx';
import { When } from './state.tsx';
import { Throughput } from './throughput.tsx';

const said = words.devices.device;
const FIRST_SHOWN = 10;

interface Watched {
  monitoring: Monitoring | undefined;
}

const Waiting = () => <p className="quiet">{words.waiting}</p>;

interface WatchedListProps<T> extends Watched {
  id: string;
  title: string;
  none: string;
  list: (monitoring: Monitoring) => readonly T[];
  row: (each: T, index: number) => ReactNode;
  children?: ReactNode;
}

/** A panel with the first entries of a list, until somebody wants all. */
function WatchedList<T>({ id, title, none, monitoring, list, row, children }: WatchedListProps<T>) {
  const [isWhole, setWhole] = useState(false);
  const all = monitoring === undefined ? [] : list(monitoring);
  const shown = isWhole ? all : all.slice(0, FIRST_SHOWN);
  return (
    <section className="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {monitoring === undefined ? <Waiting /> : all.length === 0 ? <p className="quiet">{none}</p> : null}
      <ul className="rows tight">{shown.map(row)}</ul>
      {shown.length === all.length ? null : (
        <p>
          <button type="button" className="button" onClick={() => setWhole(true)}>
            {said.more(all.length - shown.length)}
          </button>
        </p>
      )}
      {children}
    </section>
  );
}

/** The figures of a device. */
export function GlancePanel({ id, monitoring }: Watched & { id: string }) {
  const activity = useQuery(activityQuery(id)).data;
  const newest = monitoring?.recentMeasurements.find((each) => each.battery !== null)?.battery ?? null;
  // of measurements that one may not read there is a mean alone
  const mean = monitoring?.battery.findLast(({ averageBattery }) => averageBattery !== null)?.averageBattery ?? null;
  const battery = newest ?? mean;
  const firmware = monitoring?.firmwareHistory.at(-1)?.version;
  const uptime = monitoring?.uptimePercent ?? null;
  return (
    <section className="panel" aria-labelledby="glance">
      <h2 id="glance">{said.glance}</h2>
      <dl className="glance">
        <div>
          <dt>{said.newest}</dt>
          <dd>
            <When at={activity?.lastDataAt} says={(when) => when} never={words.devices.noData} />
          </dd>
        </div>
        <div>
          <dt>{said.measurements}</dt>
          <dd className="number">{monitoring === undefined ? '…' : countText(monitoring.payload.totalMeasurements)}</dd>
        </div>
        <div>
          <dt>{said.uptime}</dt>
          <dd className="number">
            {uptime === null
              ? said.uptimeUnknown
              : said.percent(uptime > 0 && uptime < 0.05 ? said.hardly : countText(Math.round(uptime * 10) / 10))}
          </dd>
        </div>
        {battery === null ? null : (
          <div>
            <dt>{newest === null ? said.batteryMean : said.battery}</dt>
            <dd className="number">{countText(Math.round(battery * 100) / 100)}</dd>
          </div>
        )}
        {firmware === undefined ? null : (
          <div>
            <dt>{said.firmware}</dt>
            <dd>{firmware}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** How much a device measured, over time and by experiment. */
export function ThroughputPanel({ monitoring, name }: Watched & { name: string }) {
  return (
    <section className="panel themed" aria-labelledby="throughput">
      <h2 id="throughput">{said.throughput}</h2>
      {monitoring === undefined ? (
        <Waiting />
      ) : monitoring.throughput.length === 0 ? (
        <p className="quiet">{said.throughputNone}</p>
      ) : (
        <Throughput monitoring={monitoring} name={name} />
      )}
    </section>
  );
}

function MeasuredRow({ measured }: { measured: Measured }) {
  const { timestamp, experimentId, deviceVersion, battery, latitude, longitude, sample } = measured;
  const experiment = useQuery(experimentQuery(experimentId)).data?.experiment.name;
  return (
    <li>
      <div>
        <p className="facts">
          <time dateTime={timestamp} title={momentText(timestamp)}>
            {agoText(timestamp)}
          </time>
          <Link to="/experiments/$id" params={{ id: experimentId }}>
            {experiment ?? experimentId}
          </Link>
        </p>
        <p className="small quiet facts number">
          {deviceVersion === null ? null : <span>{`${said.firmware} ${deviceVersion}`}</span>}
          {battery === null ? null : <span>{`${said.battery} ${countText(battery)}`}</span>}
          {latitude === null || longitude === null ? null : <span>{words.devices.map.at(latitude.toFixed(4), longitude.toFixed(4))}</span>}
        </p>
        {sample === null ? (
          <p className="small quiet">{said.withheld}</p>
        ) : (
          <details className="small">
            <summary>{said.sample}</summary>
            <pre className="sample" tabIndex={0}>
              {sample}
            </pre>
          </details>
        )}
      </div>
    </li>
  );
}

/** The newest measurements of a device. */
export const RecentPanel = ({ monitoring }: Watched) => (
  <WatchedList
    id="recent"
    title={said.recent}
    none={said.recentNone}
    monitoring={monitoring}
    list={({ recentMeasurements }) => recentMeasurements}
    row={(measured, index) => <MeasuredRow key={`${measured.timestamp} ${index}`} measured={measured} />}
  />
);

/** Which firmware a device has run, and which there is. */
export const FirmwarePanel = ({ monitoring, deviceType }: Watched & { deviceType: string }) => (
  <WatchedList
    id="firmware"
    title={said.firmware}
    none={said.firmwareNone}
    monitoring={monitoring}
    list={({ firmwareHistory }) => firmwareHistory.toReversed()}
    row={({ version, firstSeen, lastSeen, count }) => (
      <li key={`${firstSeen} ${version}`}>
        <div>
          <p className="serial">{version}</p>
          <p className="small quiet">{said.firmwareRan(momentText(firstSeen), momentText(lastSeen))}</p>
        </div>
        <span className="small quiet number">{said.firmwareCount(countText(count))}</span>
      </li>
    )}
  >
    <Releases deviceType={deviceType} />
  </WatchedList>
);

/** When a device came and went. */
export const EventsPanel = ({ monitoring }: Watched) => (
  <WatchedList
    id="events"
    title={said.events}
    none={said.eventsNone}
    monitoring={monitoring}
    list={({ events }) => events.toReversed()}
    row={({ eventType, eventTimestamp, disconnectReason }, index) => (
      <li key={`${eventTimestamp} ${index}`}>
        <span className={`tag ${eventType === 'connected' ? 'good' : ''}`}>{said.event[eventType]}</span>
        <span className="small quiet">{disconnectReason === null ? '' : said.because(disconnectReason)}</span>
        <time className="small quiet" dateTime={eventTimestamp} title={momentText(eventTimestamp)}>
          {agoText(eventTimestamp)}
        </time>
      </li>
    )}
  />
);
