import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Topic } from '../../src/iot/topics.ts';
import { isLevel, parseTopic } from '../../src/iot/topics.ts';
import { seedRandomTests } from '../support/random.ts';

beforeAll(seedRandomTests);

const level = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter(isLevel);
const topic: fc.Arbitrary<Topic> = fc.oneof(
  fc.record({
    kind: fc.constant('measurement' as const),
    experimentId: fc.uuid(),
    sensorType: level,
    sensorVersion: level,
    sensorId: level,
    protocolId: fc.option(level),
  }),
  fc.record({
    kind: fc.constant('personal' as const),
    userId: fc.uuid(),
    experimentId: fc.uuid(),
    sensorType: level,
    sensorVersion: level,
    sensorId: level,
  }),
);

const print = (topic: Topic): string => {
  const { kind, experimentId, sensorType, sensorVersion, sensorId } = topic;
  const rest = `${experimentId}/${sensorType}/${sensorVersion}/${sensorId}`;
  if (kind === 'personal') return `data_ingest/v1/u/${topic.userId}/${rest}`;
  return `experiment/data_ingest/v1/${rest}${topic.protocolId === null ? '' : `/${topic.protocolId}`}`;
};

const EXPERIMENT = '018f3a5e-0000-7000-8000-000000000001';

describe('topics', () => {
  test('both ingest shapes', () => {
    const short = `experiment/data_ingest/v1/${EXPERIMENT}/multispeq/2.0/E8:F6:0A`;
    expect(parseTopic(short)).toEqual({
      kind: 'measurement',
      experimentId: EXPERIMENT,
      sensorType: 'multispeq',
      sensorVersion: '2.0',
      sensorId: 'E8:F6:0A',
      protocolId: null,
    });
    expect(parseTopic(`${short}/questions`)).toMatchObject({ protocolId: 'questions' });
    expect(parseTopic(`${short}/a/b`)).toBeNull();
  });

  test.each([
    `experiment/data_ingest/v1/not-a-uuid/ambyte/1/x`,
    `experiment/data_ingest/v1/${EXPERIMENT}/ambyte//x`,
    `experiment/data_ingest/v1/${EXPERIMENT}/+/1/x`,
    `experiment/data_ingest/v1/${EXPERIMENT}/#`,
    `experiment/data_ingest/v1/${EXPERIMENT}/ambyte/1/x\u0000`,
    `/experiment/data_ingest/v1/${EXPERIMENT}/ambyte/1/x`,
    `experiment/data_ingest/v2/${EXPERIMENT}/ambyte/1/x`,
    `experiment/data_ingest/v1/${EXPERIMENT}/ambyte/1/${'x'.repeat(200)}`,
    '',
    '$SYS/x',
    'device/scripts/v1/ambyte/1/x',
    '$aws/events/presence/connected/x',
  ])('none of ours: %s', (text) => {
    expect(parseTopic(text)).toBeNull();
  });

  test('each part is read back, up to 256 bytes and 7 slashes', () => {
    fc.assert(
      fc.property(topic, (given) => {
        const text = print(given);
        expect(parseTopic(text)).toEqual(Buffer.byteLength(text) <= 256 ? given : null);
        expect(text.split('/').length - 1).toBeLessThanOrEqual(7);
      }),
      { numRuns: 1_000 },
    );
  });

  test('parsing is total', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.oneof(level, fc.constantFrom('experiment', 'data_ingest', 'v1', '+', '#', '')), { maxLength: 12 })
        .map((levels) => levels.join('/')),
    );
    fc.assert(
      fc.property(any, (text) => ['string', 'object'].includes(typeof parseTopic(text))),
      { numRuns: 2_000 },
    );
  });
});
