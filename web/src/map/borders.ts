import { queryOptions } from '@tanstack/react-query';
import bordersAddress from 'world-atlas/countries-50m.json?url';

/** Borders of countries, packaged with the console, as TopoJSON text. */
export const bordersQuery = queryOptions({
  queryKey: ['borders'],
  queryFn: async ({ signal }) => {
    const answer = await fetch(bordersAddress, { signal });
    if (!answer.ok) throw new TypeError(`fetch of borders: ${answer.status}`);
    return answer.text();
  },
  staleTime: Infinity,
});
