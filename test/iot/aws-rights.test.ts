import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PolicyDocument } from '../../src/iot/evaluator.ts';
import { isAllowed } from '../../src/iot/evaluator.ts';
import { printFleetQueries } from '../../src/iot/registries/aws-fleet.ts';
import { translateAwsError } from '../../src/iot/registries/aws-errors.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'aws-iot.md'), 'utf8');

test('every AWS call in the code is on the page, and the policy there allows each', () => {
  const folder = join(ROOT, 'src', 'iot', 'registries');
  const code = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const calls = new Set([...code.matchAll(/new (\w+)Command\(|\bpaginate(\w+)\(/g)].map(([, command, paged]) => command ?? paged!));
  expect(calls.size).toBeGreaterThan(20);
  const rights = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!) as PolicyDocument;
  const resources = ['thing/x', 'thinggroup/x', 'cert/x', 'policy/fieldlake-x', 'index/AWS_Things'].map(
    (name) => `arn:aws:iot:REGION:ACCOUNT:${name}`,
  );
  for (const call of calls) {
    const action = `${call === 'AssumeRole' ? 'sts' : 'iot'}:${call}`;
    expect(page).toContain(`\`${action}\``);
    const allowed = [...resources, 'arn:aws:iam::ACCOUNT:role/fieldlake-people'].some((resource) =>
      isAllowed([rights], { action, resource, variables: {} }),
    );
    expect([action, allowed]).toEqual([action, true]);
  }
  const listed = rights.Statement.flatMap(({ Action }) => Action).map((action) => action.slice(4));
  expect([...calls].sort()).toEqual([...new Set(listed)].sort());
});

test('every S3 call in the code is on the page, and the policy there allows each and nothing else', () => {
  const code = readFileSync(join(ROOT, 'src', 'storage', 's3.ts'), 'utf8');
  const calls = new Set([...code.matchAll(/new (\w+)Command\(|\bnew (Upload)\(/g)].map(([, command, upload]) => command ?? upload!));
  expect(calls.size).toBeGreaterThan(5);
  const object = 'arn:aws:s3:::BUCKET/messages/x';
  const needs: Record<string, readonly (readonly [action: string, resource: string])[]> = {
    PutObject: [['s3:PutObject', object]],
    Upload: [
      ['s3:PutObject', object],
      ['s3:AbortMultipartUpload', object],
    ],
    GetObject: [['s3:GetObject', object]],
    HeadObject: [['s3:GetObject', object]],
    AbortMultipartUpload: [['s3:AbortMultipartUpload', object]],
    DeleteObject: [
      ['s3:DeleteObject', object],
      ['s3:DeleteObjectVersion', object],
    ],
    ListObjectsV2: [['s3:ListBucket', 'arn:aws:s3:::BUCKET']],
    ListMultipartUploads: [['s3:ListBucketMultipartUploads', 'arn:aws:s3:::BUCKET']],
    ListObjectVersions: [['s3:ListBucketVersions', 'arn:aws:s3:::BUCKET']],
  };
  expect([...calls].sort()).toEqual(Object.keys(needs).sort());
  const rights = JSON.parse([...page.matchAll(/```json\n([\s\S]*?)```/g)][1]![1]!) as PolicyDocument;
  const used = new Set<string>();
  for (const call of calls) {
    if (call !== 'Upload') expect(page).toContain(`\`${call}\``);
    for (const [action, resource] of needs[call] ?? []) {
      expect([action, isAllowed([rights], { action, resource, variables: {} })]).toEqual([action, true]);
      used.add(action);
    }
  }
  expect(rights.Statement.flatMap(({ Action }) => Action).sort()).toEqual([...used].sort());
});

test('fleet queries name every thing once, in at most 50 terms and 900 characters', () => {
  const names = Array.from({ length: 333 }, (_, index) => `multispeq_${'E8:F6'.repeat(index % 20)}${index}`);
  const queries = printFleetQueries([...names, ...names]);
  expect(queries.every((query) => query.length <= 900 && query.split(' OR ').length <= 50)).toBe(true);
  expect(queries.flatMap((query) => query.split(' OR '))).toEqual(names.map((name) => `thingName:"${name}"`));
  expect(printFleetQueries([])).toEqual([]);
});

test('AWS’s failures come out as ours, by name and then by status', () => {
  const failure = (name: string, httpStatusCode?: number) =>
    translateAwsError(Object.assign(new Error('secret text'), { name, $metadata: { httpStatusCode } }));
  expect(failure('ThrottlingException', 400)).toMatchObject({ status: 503, code: 'REGISTRY_UNAVAILABLE', details: { retryAfter: 5 } });
  expect(failure('ResourceAlreadyExistsException', 409).code).toBe('REGISTRY_CONFLICT');
  expect(failure('InvalidRequestException', 400).code).toBe('REGISTRY_REFUSED');
  expect(failure('AccessDeniedException', 403).code).toBe('REGISTRY_MISCONFIGURED');
  expect(failure('SomethingNew', 418).code).toBe('REGISTRY_REFUSED');
  expect(failure('SomethingNew', 502).code).toBe('REGISTRY_UNAVAILABLE');
  expect(failure('TimeoutError').code).toBe('REGISTRY_UNAVAILABLE');
  expect(failure('constructor', 400).code).toBe('REGISTRY_REFUSED');
  expect(failure('ThrottlingException').message).not.toContain('secret');
});
