import { useQuery } from '@tanstack/react-query';
import { words } from '../words.ts';
import { boundQuery, type DeviceDetail } from './queries.ts';
import type { Bundle } from './writes.ts';

const said = words.devices.connect;
const AMAZON_ROOT = 'https://www.amazontrust.com/repository/AmazonRootCA1.pem';

type Bound = readonly { name: string; topicPrefix: string | null }[];
const topicsOf = (bound: Bound) =>
  bound.flatMap(({ name, topicPrefix }) => (topicPrefix === null ? [] : [{ name, topic: said.topic(topicPrefix) }]));

/** Puts a certificate together with all else that an instrument needs to connect and publish. */
export const describeConnection = ({ thingName, connection }: DeviceDetail, bound: Bound, bundle: Bundle) => ({
  thingName,
  ...connection,
  topics: topicsOf(bound).map(({ topic }) => topic),
  ...bundle,
});

function Authority({ pem }: { pem: string | null }) {
  if (pem === null)
    return (
      <a href={AMAZON_ROOT} rel="noreferrer">
        {said.amazonRoot}
      </a>
    );
  return (
    <a href={`data:application/x-pem-file,${encodeURIComponent(pem)}`} download="ca.pem">
      {said.authorityFile}
    </a>
  );
}

/** What an instrument connects to, as whom, and where it publishes, and what it still lacks for that. */
export function ConnectPanel({ device: { id, status, thingName, connection } }: { device: DeviceDetail }) {
  const bound = useQuery(boundQuery(id));
  const topics = topicsOf(bound.data ?? []);
  return (
    <section className="panel" aria-labelledby="connect">
      <h2 id="connect" data-awaited={bound.isLoading}>
        {said.title}
      </h2>
      {status === 'pending' || status === 'revoked' ? <p className="notice small">{said.needsCertificate}</p> : null}
      {bound.data?.length === 0 ? <p className="notice small">{said.needsExperiment}</p> : null}
      <p className="small quiet">{said.how}</p>
      <dl className="connect">
        {connection === null ? null : (
          <>
            <dt>{said.host}</dt>
            <dd>
              <code>{connection.host}</code>
            </dd>
            <dt>{said.port}</dt>
            <dd>
              <code>{connection.port}</code>
            </dd>
          </>
        )}
        <dt>{said.clientId}</dt>
        <dd>
          <code>{thingName}</code>
        </dd>
        {connection === null ? null : (
          <>
            <dt>{said.authority}</dt>
            <dd>
              <Authority pem={connection.authorityPem} />
            </dd>
          </>
        )}
        {topics.map(({ name, topic }) => (
          <div key={topic}>
            <dt>{said.topicOf(name)}</dt>
            <dd>
              <code>{topic}</code>
            </dd>
          </div>
        ))}
      </dl>
      {connection === null ? <p className="small">{said.unknown}</p> : null}
    </section>
  );
}
