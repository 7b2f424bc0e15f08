import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { experimentQuery } from '../experiments/queries.ts';
import { agoText, countText, momentText } from '../shell/format.ts';
import { words } from '../words.ts';
import { activityQuery, type Measured, type Monitoring } from './queries.ts';
import { When } from './state.tsx';
import { Throughput } from './throughput.tsx';

const said = words.devices.device;
const FIRST_SHOWN = 10;

interface Watched {
  monitoring: Monitoring | undefined;
}

const Waiting = () => <p className="quiet">{words.waiting}</p>;

/** Shows the first entries of a list until somebody wants all. */
function useFirst<T>(all: readonly T[]) {
  const [isWhole, setWhole] = useState(false);
  const left = isWhole ? 0 : Math.max(0, all.length - FIRST_SHOWN);
  const more =
    left === 0 ? null : (
      <p>
        <button type="button" className="button" onClick={() => setWhole(true)}>
          {said.more(left)}
        </button>
      </p>
    );
  return { shown: left === 0 ? all : all.slice(0, FIRST_SHOWN), more };
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
          <dd className="number">{uptime === null ? said.uptimeUnknown : said.percent(countText(Math.round(uptime * 10) / 10))}</dd>
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
export function RecentPanel({ monitoring }: Watched) {
  const { shown, more } = useFirst(monitoring?.recentMeasurements ?? []);
  return (
    <section className="panel" aria-labelledby="recent">
      <h2 id="recent">{said.recent}</h2>
      {monitoring === undefined ? <Waiting /> : shown.length === 0 ? <p className="quiet">{said.recentNone}</p> : null}
      <ul className="rows tight">
        {shown.map((measured, index) => (
          <MeasuredRow key={`${measured.timestamp} ${index}`} measured={measured} />
        ))}
      </ul>
      {more}
    </section>
  );
}

/** Which firmware a device has run. */
export function FirmwarePanel({ monitoring }: Watched) {
  const { shown, more } = useFirst((monitoring?.firmwareHistory ?? []).toReversed());
  return (
    <section className="panel" aria-labelledby="firmware">
      <h2 id="firmware">{said.firmware}</h2>
      {monitoring === undefined ? <Waiting /> : shown.length === 0 ? <p className="quiet">{said.firmwareNone}</p> : null}
      <ul className="rows tight">
        {shown.map(({ version, firstSeen, lastSeen, count }) => (
          <li key={firstSeen}>
            <div>
              <p className="serial">{version}</p>
              <p className="small quiet">{said.firmwareRan(momentText(firstSeen), momentText(lastSeen))}</p>
            </div>
            <span className="small quiet number">{said.firmwareCount(countText(count))}</span>
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
}

/** When a device came and went. */
export function EventsPanel({ monitoring }: Watched) {
  const { shown, more } = useFirst((monitoring?.events ?? []).toReversed());
  return (
    <section className="panel" aria-labelledby="events">
      <h2 id="events">{said.events}</h2>
      {monitoring === undefined ? <Waiting /> : shown.length === 0 ? <p className="quiet">{said.eventsNone}</p> : null}
      <ul className="rows tight">
        {shown.map(({ eventType, eventTimestamp, disconnectReason }, index) => (
          <li key={`${eventTimestamp} ${index}`}>
            <span className={`tag ${eventType === 'connected' ? 'good' : ''}`}>{said.event[eventType]}</span>
            <span className="small quiet">{disconnectReason === null ? '' : said.because(disconnectReason)}</span>
            <time className="small quiet" dateTime={eventTimestamp} title={momentText(eventTimestamp)}>
              {agoText(eventTimestamp)}
            </time>
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
}
