import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { PolicyDocument } from '../../src/iot/evaluator.ts';
import { isAllowed, isMatch } from '../../src/iot/evaluator.ts';
import {
  printClientArn,
  makeDevicePolicies,
  MAX_BINDINGS,
  MAX_POLICIES,
  MAX_POLICY_LENGTH,
  measurePolicy,
  makeSessionPolicy,
  printTopicArn,
  printTopicFilterArn,
} from '../../src/iot/policy.ts';
import { seedRandomTests } from '../support/random.ts';

beforeAll(seedRandomTests);

const PREFIX = 'arn:aws:iot:eu-central-1:123456789012';
const LONGEST_PREFIX = 'arn:aws-iso-b:iot:ap-southeast-11:123456789012';
const THING = 'multispeq_E8:F6:0A';
const ids = (count: number) => Array.from({ length: count }, (_, n) => `018f3a5e-0000-7000-8000-${String(n).padStart(12, '0')}`);
const variables = { 'iot:Connection.Thing.ThingName': THING, 'iot:ClientId': THING };
const ask = (documents: readonly PolicyDocument[], action: string, resource: string) =>
  isAllowed(documents, { action, resource, variables });
const ingest = (experimentId: string, sensorType = 'multispeq') =>
  printTopicArn(PREFIX, `experiment/data_ingest/v1/${experimentId}/${sensorType}/2/x`);

describe('device policies', () => {
  test('100 bindings of the longest names fit into what AWS takes; 101 are refused', () => {
    const documents = makeDevicePolicies(LONGEST_PREFIX, 'x'.repeat(32), ids(MAX_BINDINGS));
    expect(documents.length).toBeLessThanOrEqual(MAX_POLICIES);
    for (const document of documents) expect(measurePolicy(document)).toBeLessThanOrEqual(MAX_POLICY_LENGTH);
    expect(() => makeDevicePolicies(PREFIX, 'multispeq', ids(MAX_BINDINGS + 1))).toThrow(/at most 100/);
  });

  test('the same bindings in any order give the same documents', () => {
    const bound = ids(40);
    expect(makeDevicePolicies(PREFIX, 'ambyte', [...bound].reverse().concat(bound))).toEqual(makeDevicePolicies(PREFIX, 'ambyte', bound));
  });

  test('connect as itself only', () => {
    const documents = makeDevicePolicies(PREFIX, 'multispeq', []);
    expect(ask(documents, 'iot:Connect', printClientArn(PREFIX, THING))).toBe(true);
    for (const other of ['multispeq_other', `${THING}x`, '*', ''])
      expect(ask(documents, 'iot:Connect', printClientArn(PREFIX, other))).toBe(false);
  });

  test('publish to exactly the bound experiments', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.uuid(), { maxLength: 100 }), fc.uuid(), (bound, stranger) => {
        const documents = makeDevicePolicies(PREFIX, 'multispeq', bound);
        expect(bound.every((id) => ask(documents, 'iot:Publish', ingest(id)))).toBe(true);
        expect(ask(documents, 'iot:Publish', ingest(stranger))).toBe(bound.includes(stranger));
        expect(bound.some((id) => ask(documents, 'iot:Publish', ingest(id, 'ambyte')))).toBe(false);
        expect(ask(documents, 'iot:Publish', printTopicArn(PREFIX, 'device/scripts/v1/multispeq/2/x'))).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  test('read the own script topic only', () => {
    const documents = makeDevicePolicies(PREFIX, 'multispeq', []);
    expect(ask(documents, 'iot:Subscribe', printTopicFilterArn(PREFIX, `device/scripts/v1/multispeq/2/${THING}`))).toBe(true);
    for (const filter of ['device/scripts/v1/multispeq/2/other', 'device/scripts/v1/#', '#', `device/scripts/v1/+/+/+`]) {
      expect(ask(documents, 'iot:Subscribe', printTopicFilterArn(PREFIX, filter))).toBe(false);
    }
  });
});

describe('session policies', () => {
  const user = '018f3a5e-0000-7000-8000-00000000abcd';
  const documents = [makeSessionPolicy(PREFIX, user)];
  const personal = (userId: string) => printTopicArn(PREFIX, `data_ingest/v1/u/${userId}/${ids(1)[0]!}/ambit/1/x`);

  test('fit and allow one topic tree', () => {
    expect(measurePolicy(documents[0]!)).toBeLessThanOrEqual(MAX_POLICY_LENGTH);
    expect(ask(documents, 'iot:Publish', personal(user))).toBe(true);
    expect(ask(documents, 'iot:Publish', personal(ids(1)[0]!))).toBe(false);
    expect(ask(documents, 'iot:Publish', ingest(ids(1)[0]!))).toBe(false);
    expect(ask(documents, 'iot:Connect', printClientArn(PREFIX, `u-${user}-phone`))).toBe(true);
    expect(ask(documents, 'iot:Connect', printClientArn(PREFIX, THING))).toBe(false);
    expect(ask(documents, 'iot:Subscribe', printTopicFilterArn(PREFIX, '#'))).toBe(false);
  });
});

describe('the evaluator', () => {
  const allow = (resource: string): PolicyDocument => ({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'iot:*', Resource: resource }],
  });
  const request = (resource: string) => ({ action: 'iot:Publish', resource, variables: {} });

  test('a Deny beats every Allow', () => {
    const deny: PolicyDocument = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Deny', Action: ['iot:Publish'], Resource: ['a/secret*'] }],
    };
    expect(isAllowed([allow('*')], request('a/secret/1'))).toBe(true);
    expect(isAllowed([allow('*'), deny], request('a/secret/1'))).toBe(false);
    expect(isAllowed([], request('a'))).toBe(false);
  });

  test('what a variable stands for is never a wildcard', () => {
    expect(isMatch('t/${iot:ClientId}/x', 't/*/x', { 'iot:ClientId': '*' })).toBe(true);
    expect(isMatch('t/${iot:ClientId}/x', 't/anyone/x', { 'iot:ClientId': '*' })).toBe(false);
    expect(
      isMatch('t/${iot:ClientId}', 't/${iot:Connection.Thing.ThingName}', { 'iot:ClientId': '${iot:Connection.Thing.ThingName}' }),
    ).toBe(true);
  });

  test('an unknown or empty variable matches nothing, an inherited name neither', () => {
    for (const name of ['iot:ClientId', 'constructor', '__proto__'])
      expect(isMatch(`t/\${${name}}*`, 't/x', { 'iot:Other': 'x' })).toBe(false);
    expect(isMatch('t/${iot:ClientId}', 't/', { 'iot:ClientId': '' })).toBe(false);
    expect(isMatch('t/${iot:ClientId', 't/x', { 'iot:ClientId': 'x' })).toBe(false);
    expect(isMatch('${*}', '*', {})).toBe(true);
    expect(isMatch('${*}', 'x', {})).toBe(false);
  });

  test('characters of expressions are themselves', () => {
    const odd = 'a.b+c^$(d|e)[f]{g}\\n\n-/';
    expect(isMatch(`${odd}*`, `${odd}x`, {})).toBe(true);
    expect(isMatch('a.b*', 'axbc', {})).toBe(false);
    expect(isMatch('${iot:ClientId}*', `${odd}x`, { 'iot:ClientId': odd })).toBe(true);
    expect(isMatch('${iot:ClientId}*', 'axb', { 'iot:ClientId': 'a.b' })).toBe(false);
  });

  test('wildcards agree with a regular expression', () => {
    const unit = fc.constantFrom('a', 'b', '/', '*', '?');
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 10 }),
        fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 }),
        (pattern, text) => {
          const oracle = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
          expect(isMatch(pattern, text, {})).toBe(oracle.test(text));
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
