/** Traces of people in bytes: their ids, names, addresses and pictures, as they are and as they could be wrapped. */
import { gunzipSync } from 'node:zlib';

export interface Trace {
  person: string;
  what: 'id' | 'name' | 'address' | 'picture';
  text: string;
}

export interface Leak {
  person: string;
  what: Trace['what'];
  around: string;
}

/** Other spellings in which a trace could leave. */
const spellings = ({ what, text }: Trace): Buffer[] => {
  const plain = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];
  if (what !== 'id') return plain.map((each) => Buffer.from(each));
  const hex = text.replaceAll('-', '');
  return [...[...plain, text.toUpperCase(), hex, hex.toUpperCase()].map((each) => Buffer.from(each)), Buffer.from(hex, 'hex')];
};

/** Bytes that wrapped text stands for: every run of it that could be base64. */
const unwrapped = (text: string): Buffer[] =>
  [...text.matchAll(/[A-Za-z0-9_+/-]{24,}/g)].map(([run]) => Buffer.from(run.replaceAll('-', '+').replaceAll('_', '/'), 'base64'));

/** Every trace in some bytes, in what is wrapped in them, and in their decompressed form. */
export function findTraces(bytes: Buffer, traces: readonly Trace[], deep = true): Leak[] {
  const places = [bytes];
  if (deep) places.push(...unwrapped(bytes.toString('latin1')));
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) places.push(gunzipSync(bytes));
  return traces.flatMap((trace) => {
    for (const place of places)
      for (const spelling of spellings(trace)) {
        const at = place.indexOf(spelling);
        if (at >= 0)
          return [{ person: trace.person, what: trace.what, around: place.subarray(Math.max(0, at - 40), at + 60).toString('utf8') }];
      }
    return [];
  });
}
