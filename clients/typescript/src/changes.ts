import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';
import type { components } from '../generated/api.ts';
import type { Fieldlake } from './client.ts';
import { ProblemError, UnreachableError } from './problem.ts';
import { waitFor } from './retry.ts';

const PATH = '/api/v1/experiments/{id}/changes';
/** Until the service says how long to wait before a stream that ended is begun again. */
const USUAL_PAUSE_SECONDS = 2;
/** Refusals that pass. */
const PASSING = new Set([429, 502, 503, 504]);

type Schemas = components['schemas'];

/** What each kind of event holds. */
export interface Changes {
  reset: Schemas['Reset'];
  table: Schemas['TableChange'];
  upload: Schemas['UploadChange'];
  export: Schemas['ExportChange'];
  macroRun: Schemas['MacroRunChange'];
  device: Schemas['DeviceChange'];
}

/** Something that happened in an experiment; `id` is to go on from. */
export type Change = { [Kind in keyof Changes]: { kind: Kind; id: string; data: Changes[Kind] } }[keyof Changes];

const KINDS: Readonly<Record<keyof Changes, true>> = { reset: true, table: true, upload: true, export: true, macroRun: true, device: true };

interface ListenSettings {
  signal: AbortSignal;
  /** The id of the last event that is known; the stream begins now when absent. */
  after?: string | undefined;
}

/** The change of an event; null for kinds that came later than this client, which are to be passed over. */
function changeOf({ event = '', id = '', data }: EventSourceMessage): Change | null {
  return event in KINDS ? ({ kind: event, id, data: JSON.parse(data) as unknown } as Change) : null;
}

/** Reads what comes until the stream ends, or the signal ends it. */
async function* messagesOf(
  stream: ReadableStream<EventSourceMessage>,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const reader = stream.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  // a copy of a request hears of the signal through the request, which may be garbage long before the stream ends
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    // it may have ended by itself, or by the signal
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * What happens in an experiment, for as long as the loop runs and the signal lets it. A stream that was cut, or that the service had no place for, is
 * begun again after the last event, so that nothing is missed; on a `reset` read anew what you show. Errors: ProblemError where the service refuses
 * for good, and the signal's reason.
 */
export async function* changesOf(
  client: Fieldlake,
  experimentId: string,
  { signal, after }: ListenSettings,
): AsyncGenerator<Change, void, undefined> {
  let last = after;
  let pause = USUAL_PAUSE_SECONDS;
  for (;;) {
    try {
      const { data } = await client.GET(PATH, {
        params: { path: { id: experimentId }, header: last === undefined ? {} : { 'Last-Event-ID': last } },
        headers: { accept: 'text/event-stream' },
        parseAs: 'stream',
        signal,
      });
      const bytes = data as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
      const parser = new EventSourceParserStream({ onRetry: (milliseconds) => (pause = milliseconds / 1_000) });
      for await (const message of messagesOf(bytes.pipeThrough(new TextDecoderStream()).pipeThrough(parser), signal)) {
        last = message.id ?? last;
        const change = changeOf(message);
        if (change !== null) yield change;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProblemError && !PASSING.has(error.status)) throw error;
      if (error instanceof ProblemError) pause = error.retryAfter ?? pause;
      // a stream that breaks off within is a TypeError of fetch
      else if (!(error instanceof UnreachableError || error instanceof TypeError)) throw error;
    }
    await waitFor(pause, signal);
  }
}
