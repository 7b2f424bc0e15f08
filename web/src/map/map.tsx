import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Drawing } from '../charts/drawing.tsx';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { bordersQuery } from './borders.ts';
import { mapOf } from './picture.ts';
import { useSteady } from '../ui/steady.ts';
import type { Place } from './place.ts';
import './map.css';

interface PlacesMapProps {
  /** What the map shows, for whoever does not see it. */
  name: string;
  places: readonly Place[];
  isSmall?: boolean;
}

/** A map of places on packaged borders. Its numbers are those of a list that stands beside it. */
export function PlacesMap({ name, places, isSmall = false }: PlacesMapProps) {
  const borders = useQuery(bordersQuery);
  const steady = useSteady(places.map(({ mark, latitude, longitude }) => ({ mark, latitude, longitude })));
  const spec = useMemo(
    () => (borders.data === undefined ? undefined : mapOf(steady, borders.data, isSmall ? 'small' : 'large')),
    [steady, borders.data, isSmall],
  );
  if (borders.error !== null) return <Problem error={borders.error} retry={() => void borders.refetch()} />;
  return spec === undefined ? (
    <p className="quiet" role="status">
      {words.waiting}
    </p>
  ) : (
    <div className="map">
      <Drawing spec={spec} name={name} />
    </div>
  );
}
