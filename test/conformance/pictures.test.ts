import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHART_TYPES } from '../../src/api/visualizations/visualizations.model.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { leavesCsv, sourcesOf } from '../support/charts.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let id: string;
let folder: string;
let browser: BrowserContext;
let page: Page;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  id = String((await owner('POST', '/api/v1/experiments', { body: { name: 'Plotted', organizationId: site.cast.leafLab } })).body.id);
  await uploadTable(owner, id, 'leaves', leavesCsv());
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-pictures-'));
  browser = await chromium.launchPersistentContext(folder, { executablePath: CHROMIUM, args: ['--no-sandbox'] });
  page = await browser.newPage();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What a browser makes of a picture: its size in pixels and how many colours it has; rejects where the bytes are no picture. */
const decode = (bytes: Buffer, type: string) =>
  page.evaluate<{ width: number; height: number; colours: number }>(`(async () => {
    const image = new Image();
    image.src = 'data:${type};base64,${bytes.toString('base64')}';
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return { width: canvas.width, height: canvas.height, colours: new Set(pixels).size };
  })()`);

test('a browser refuses half a picture', async () => {
  const body = { name: 'Half', chartFamily: 'basic', chartType: 'bar', dataConfig: { tableName: 'leaves', dataSources: sourcesOf('bar') } };
  const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body });
  const { bytes } = await owner('GET', `/api/v1/experiments/${id}/visualizations/${String(made.body.id)}/image`);
  expect((await decode(bytes, 'image/svg+xml')).colours).toBeGreaterThan(3);
  await expect(decode(bytes.subarray(0, bytes.length / 2), 'image/svg+xml')).rejects.toThrow(/decode/);
});

test.each(CHART_TYPES)('Chromium shows a %s, as PNG and as SVG', async (chartType) => {
  const dataConfig = { tableName: 'leaves', dataSources: sourcesOf(chartType) };
  const body = { name: `A ${chartType}`, chartFamily: 'basic', chartType, dataConfig };
  const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body });
  expect(made.status, made.text).toBe(201);
  const sizes = [];
  for (const [format, type] of [
    ['png', 'image/png'],
    ['svg', 'image/svg+xml'],
  ] as const) {
    const query = { format, width: 500, height: 300 };
    const picture = await owner('GET', `/api/v1/experiments/${id}/visualizations/${String(made.body.id)}/image`, { query });
    expect(picture.status, picture.text.slice(0, 300)).toBe(200);
    expect(picture.headers.get('content-type')).toContain(type);
    expect(picture.bytes.length).toBeGreaterThan(1_000);
    const { width, height, colours } = await decode(picture.bytes, type);
    expect(colours, format).toBeGreaterThan(3);
    sizes.push({ width, height });
  }
  expect(sizes[0]!.width).toBeGreaterThanOrEqual(300);
  expect(sizes[0]!.height).toBeGreaterThanOrEqual(200);
});
