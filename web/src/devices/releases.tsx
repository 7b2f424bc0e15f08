import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bytesText, dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { FAMILIES, releasesQuery, type Family } from './queries.ts';

const said = words.devices.releases;

function ReleaseList({ family }: { family: Family }) {
  const { data, error, refetch } = useQuery(releasesQuery(family));
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />;
  if (data === undefined) return <p className="quiet">{words.waiting}</p>;
  if (data.length === 0) return <p className="quiet">{said.none}</p>;
  return (
    <ul className="rows tight">
      {data.map(({ version, publishedAt, prerelease, latest, releaseUrl, assets }) => (
        <li key={version}>
          <div>
            <p>
              <a href={releaseUrl} target="_blank" rel="noopener noreferrer">
                {version}
              </a>{' '}
              {latest ? <span className="tag good">{said.latest}</span> : null}
              {prerelease ? <span className="tag">{said.prerelease}</span> : null}
            </p>
            <p className="small quiet facts">
              <time dateTime={publishedAt}>{dayText(publishedAt)}</time>
              {assets.map(({ name, sizeBytes, downloadUrl }) => (
                <a key={downloadUrl} href={downloadUrl} target="_blank" rel="noopener noreferrer">
                  {said.file(name, bytesText(sizeBytes))}
                </a>
              ))}
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** The published firmware of a kind of device, once somebody opens it: it is asked for elsewhere, and few kinds have some. */
export function Releases({ deviceType }: { deviceType: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const family = FAMILIES.find((each) => each === deviceType);
  if (family === undefined) return null;
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{said.title}</summary>
      {isOpen ? <ReleaseList family={family} /> : null}
    </details>
  );
}
