import { EventSource } from 'eventsource';

/** An event as the client hands it out. */
export interface Heard {
  kind: string;
  id: string;
  data: Record<string, any>;
}

/** A transaction anywhere on the Postgres, also of another test, delays what is told until it is over. */
export const HEARD_MS = 60_000;

const KINDS = ['reset', 'table', 'upload', 'export', 'macroRun', 'device'] as const;

export interface Listener {
  heard: Heard[];
  /** Statuses of refusals. */
  refusals: (number | undefined)[];
  /** How often a stream was begun. */
  begun: () => number;
  /** Waits until something heard, past or to come, fits; answers it. */
  until(fits: (event: Heard) => boolean, milliseconds?: number): Promise<Heard>;
  /** Waits until the server has refused to begin again. */
  refused(milliseconds?: number): Promise<void>;
  /** Data of a kind, in the order heard. */
  of(kind: (typeof KINDS)[number]): Record<string, any>[];
  close(): void;
}

/** Listens as a browser does, by the package `eventsource`, which begins again by itself; `headers` say who. */
export function listen(url: string, headers: Record<string, string>): Listener {
  const heard: Heard[] = [];
  const refusals: Listener['refusals'] = [];
  const waiting = new Set<() => void>();
  let begun = 0;
  const source = new EventSource(url, { fetch: (asked, init) => fetch(asked, { ...init, headers: { ...init.headers, ...headers } }) });
  const wake = () => waiting.forEach((look) => look());
  source.addEventListener('open', () => (begun += 1));
  source.addEventListener('error', ({ code }) => {
    if (code !== undefined) refusals.push(code);
    wake();
  });
  for (const kind of KINDS)
    source.addEventListener(kind, (event) => {
      heard.push({ kind, id: event.lastEventId, data: JSON.parse(event.data as string) as Record<string, any> });
      wake();
    });
  const wait = <T>(find: () => T | undefined, milliseconds: number) =>
    new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`not heard in ${milliseconds} ms, but ${JSON.stringify({ heard, refusals })}`));
      }, milliseconds);
      const look = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    heard,
    refusals,
    begun: () => begun,
    until: (fits, milliseconds = HEARD_MS) => wait(() => heard.find(fits), milliseconds),
    refused: async (milliseconds = 15_000) => {
      await wait(() => refusals.at(0), milliseconds);
    },
    of: (kind) => heard.filter((event) => event.kind === kind).map(({ data }) => data),
    close: () => source.close(),
  };
}
