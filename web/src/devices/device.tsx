import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { BoundPanel } from './bound.tsx';
import { CertificatePanel } from './certificate.tsx';
import { ConnectPanel } from './connect.tsx';
import { EventsPanel, FirmwarePanel, GlancePanel, RecentPanel, ThroughputPanel } from './monitoring.tsx';
import { deviceQuery, monitoringQuery } from './queries.ts';
import { SPANS } from './search.ts';
import { SettingsPanel } from './settings.tsx';
import { CertificateTag, Connection, nameOf, When } from './state.tsx';
import './devices.css';

const route = getRouteApi('/guarded/devices/$device');
const said = words.devices;

/** A device: how it is, what it measured, where it sends, and its certificate. */
export function DevicePage() {
  const { device: id } = route.useParams();
  const { days = 7 } = route.useSearch();
  const { device, tag } = useSuspenseQuery(deviceQuery(id)).data;
  const monitoring = useQuery(monitoringQuery(id, days));
  const { capabilities, connectivity, deviceType, serialNumber } = device;
  const name = nameOf(device);
  return (
    <div className="page">
      <title>{`${name} · ${words.name}`}</title>
      <header className="page-head">
        <p className="small">
          <Link to="/devices">{said.device.back}</Link>
        </p>
        <h1 className="serial">{name}</h1>
        <p className="small quiet facts">
          <span className="serial">{said.device.facts(said.types[deviceType], serialNumber)}</span>
          <Connection connectivity={connectivity ?? null} />
          <CertificateTag device={device} />
          <When at={connectivity?.lastSeenAt} says={said.seen} never={null} />
          <Link to="/devices/$device/sharing" params={{ device: id }}>
            {words.sharing.title}
          </Link>
        </p>
        <nav className="choices" aria-label={said.device.span}>
          {SPANS.map((span) => (
            <Link
              key={span}
              to="/devices/$device"
              params={{ device: id }}
              search={{ days: span }}
              className="choice"
              aria-current={span === days ? 'true' : undefined}
            >
              {said.device.spans[span]}
            </Link>
          ))}
        </nav>
      </header>
      <div className="device">
        <div className="stack">
          <Problem error={monitoring.error} retry={() => void monitoring.refetch()} />
          {monitoring.data?.pipelineUnavailable === true ? <p className="notice">{said.device.lost}</p> : null}
          <GlancePanel id={id} monitoring={monitoring.data} />
          <ThroughputPanel monitoring={monitoring.data} name={said.device.chart(name, said.device.spans[days])} />
          <RecentPanel monitoring={monitoring.data} />
          <EventsPanel monitoring={monitoring.data} />
          <FirmwarePanel monitoring={monitoring.data} deviceType={deviceType} />
        </div>
        <div className="stack">
          {deviceType === 'mobile' ? null : (
            <>
              <CertificatePanel key={id} device={device} />
              <ConnectPanel device={device} />
            </>
          )}
          <BoundPanel device={device} />
          {capabilities.canManage ? <SettingsPanel device={device} tag={tag} /> : null}
        </div>
      </div>
    </div>
  );
}
