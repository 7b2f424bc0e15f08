import { useEffect, useRef, useState } from 'react';
import { changesOf } from '../../../clients/typescript/src/changes.ts';
import { api, queryClient } from '../api.ts';
import { tablesQuery } from '../experiments/queries.ts';

/** A table as the service last told of it; `version` is null for a table that is gone. */
export interface Told {
  version: number | null;
  totalRows: number | null;
}

interface Followed {
  told: Told | null;
  /** Why the service tells nothing any more; null while it does. */
  error: unknown;
}

const NOTHING: Followed = { told: null, error: null };

/** Picks the one with the greater version, in whatever order the two were told. A table that is gone counts always. */
const newerOf = (before: Told | null, next: Told): Told =>
  next.version === null || (before?.version ?? -1) <= next.version ? next : (before ?? next);

/** Reads a table's current version and row count. A listener needs them when the service cannot tell it what it missed. */
async function readTold(id: string, table: string): Promise<Told> {
  const tables = await queryClient.query({ ...tablesQuery(id), staleTime: 0 });
  const found = tables.find(({ identifier }) => identifier === table);
  return { version: found?.version ?? null, totalRows: found?.totalRows ?? null };
}

/**
 * Follows what the service tells of a table. A page that is not seen does not listen: a browser may have many such pages, and few connections. When the page is
 * seen again, it goes on behind what it heard last.
 */
export function useFollowed(id: string, table: string): Followed {
  const [followed, setFollowed] = useState(NOTHING);
  const last = useRef<string>(undefined);
  useEffect(() => {
    let listening: AbortController | null = null;
    const note = (told: Told) => setFollowed(({ told: before }) => ({ told: newerOf(before, told), error: null }));
    const listen = async (signal: AbortSignal) => {
      try {
        for await (const { kind, id: at, data } of changesOf(api, id, { signal, after: last.current })) {
          last.current = at === '' ? last.current : at;
          if (kind === 'reset') note(await readTold(id, table));
          else if (kind === 'table' && data.identifier === table) note(data);
        }
      } catch (error) {
        if (!signal.aborted) setFollowed(({ told }) => ({ told, error }));
      }
    };
    const look = () => {
      if (document.hidden) {
        listening?.abort();
        listening = null;
      } else if (listening === null) {
        listening = new AbortController();
        void listen(listening.signal);
      }
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      listening?.abort();
    };
  }, [id, table]);
  return followed;
}
