import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startTestServer } from '../support/server.ts';

const release = (tag: string, more: object = {}) => ({
  tag_name: tag,
  name: `Release ${tag}`,
  draft: false,
  prerelease: false,
  published_at: '2026-01-02T03:04:05Z',
  html_url: `https://github.example/r/${tag}`,
  body_html: '<p onclick="x()">Good<script>alert(1)</script> <a href="javascript:x">a</a></p>',
  assets: [{ name: 'firmware.bin', size: 12, browser_download_url: 'https://github.example/firmware.bin' }],
  ...more,
});

test('GET /api/v1/iot/firmware/{family}/releases', async () => {
  const asked: (string | undefined)[] = [];
  let isDown = false;
  const github = createServer((request, response) => {
    asked.push(request.headers['if-none-match']);
    if (isDown) response.writeHead(500).end();
    else if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end();
    else
      response.writeHead(200, { etag: '"one"' }).end(
        JSON.stringify([
          release('v1.9.0', { assets: [...release('v1.9.0').assets, { name: 'broken.bin', size: -1 }] }),
          release('v1.10.0'),
          release('v2.0.0-rc.1', { prerelease: true }),
          release('v3', { draft: true }),
          // what is malformed hides itself alone
          release('v4', { html_url: 'javascript:x' }),
          { tag_name: 'v5' },
          null,
        ]),
      );
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const site = await startTestServer({
    GITHUB_API_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}`,
    FIRMWARE_AMBYTE_REPOSITORY: 'field/ambyte',
  });
  try {
    const call = site.as(site.cast.stranger);
    const path = '/api/v1/iot/firmware/ambyte/releases';
    const first = await call('GET', path);
    expect(first.status).toBe(200);
    expect(first.body.releases.map((each: any) => [each.version, each.latest])).toEqual([
      ['v1.9.0', false],
      ['v1.10.0', true],
      ['v2.0.0-rc.1', false],
    ]);
    expect(first.body.releases[0]).toEqual({
      version: 'v1.9.0',
      name: 'Release v1.9.0',
      publishedAt: '2026-01-02T03:04:05.000Z',
      prerelease: false,
      latest: false,
      notesHtml: expect.stringMatching(/^<p>Good <a[^>]*>a<\/a><\/p>$/),
      releaseUrl: 'https://github.example/r/v1.9.0',
      assets: [{ name: 'firmware.bin', sizeBytes: 12, downloadUrl: 'https://github.example/firmware.bin' }],
    });
    expect(first.body.releases[0].notesHtml).not.toContain('javascript');
    await call('GET', path);
    expect(asked).toEqual([undefined]);
    const age = () => site.db.run(sql('test')`update firmware_releases set fetched_at = now() - interval '1 hour'`);
    await age();
    expect((await call('GET', path)).body).toEqual(first.body);
    expect(asked).toEqual([undefined, '"one"']);
    await age();
    isDown = true;
    expect((await call('GET', path)).body).toEqual(first.body);
    expect((await call('GET', path)).body).toEqual(first.body);
    expect(asked).toHaveLength(3);
    expect((await call('GET', '/api/v1/iot/firmware/minipar/releases')).body.code).toBe('FIRMWARE_UNAVAILABLE');
    expect((await call('GET', '/api/v1/iot/firmware/multispeq/releases')).status).toBe(400);
    expect((await site.as(null)('GET', path)).status).toBe(401);
  } finally {
    await site.stop();
    await new Promise((resolve) => github.close(resolve));
  }
});
