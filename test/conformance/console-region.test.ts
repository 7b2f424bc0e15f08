import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight } from '../support/chromium.ts';
import { makeExperiment, removeAccess, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

const MANY = 10_050;

let site: Console;
beforeAll(async () => {
  site = await startConsole();
});
afterAll(() => site.stop());

/** Rows on a slope: the `n`-th at (n, 2n), an hour after the one before. */
const slope = (rows: number) => {
  const lines = Array.from({ length: rows }, (_, at) => {
    const moment = new Date(Date.UTC(2026, 4, 1) + (at + 1) * 3_600_000).toISOString();
    return `${at + 1},${2 * (at + 1)},${moment}`;
  });
  return `n,height,taken\n${lines.join('\n')}\n`;
};

async function experimentOnSlope(rows: number, more: object = {}) {
  const made = await site.owner('POST', '/api/v1/experiments', { body: { name: 'On a slope', ...more } });
  const id = String(made.body.id);
  const table = await uploadTable(site.owner, id, 'slope', slope(rows));
  const sources = (x: string, y: string) =>
    JSON.stringify([
      { role: 'x', columnName: x },
      { role: 'y', columnName: y },
    ]);
  const addressOf = (type: string, x: string) =>
    `${site.baseUrl}/experiments/${id}/tables/${table}/chart?type=${type}&sources=${encodeURIComponent(sources(x, 'height'))}`;
  return { id, table, addressOf };
}

/** The `n` of all rows that somebody said something of. */
async function annotated(id: string, table: string, text: string): Promise<number[]> {
  const query = { tableName: table, limit: 20_000, columns: JSON.stringify(['n', 'annotations']) };
  const { body } = await site.owner('GET', `/api/v1/experiments/${id}/data`, { query });
  const { rows } = (body as [{ data: { rows: { n: number; annotations: unknown }[] } }])[0].data;
  return rows.flatMap(({ n, annotations }) => (JSON.stringify(annotations).includes(text) ? [n] : [])).sort((a, b) => a - b);
}

const panel = (page: Page) => page.getByRole('region', { name: 'Say something of a region' });
const regionIn = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('region')!) as { x: number[]; y: number[] };

/** Draws a rectangle from one part of the plot to another, in hundredths. */
async function drag(page: Page, from: [number, number], to: [number, number]) {
  const box = (await page.locator('.drawing .role-frame.root > g > .background').first().boundingBox())!;
  const at = ([x, y]: [number, number]) => [box.x + (box.width * x) / 100, box.y + (box.height * y) / 100] as const;
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]));
  await page.mouse.move(...at(to));
  await page.mouse.up();
}

test('flags the rows of a region, all of them and no other', async () => {
  const { id, table, addressOf } = await experimentOnSlope(40);
  const visitor = await site.visitAs('owner');
  const { page, complaints } = visitor;
  // the page of the link has a heading too
  await page.getByRole('heading', { name: 'Maize under drought' }).waitFor();
  await page.goto(addressOf('scatter', 'n'));
  await page.locator('.drawing .brushed').waitFor();
  await drag(page, [20, 10], [70, 80]);
  await panel(page)
    .getByRole('status')
    .getByText(/are in it/)
    .waitFor();
  const { x, y } = regionIn(page);
  const inside = Array.from({ length: 40 }, (_, at) => at + 1).filter((n) => n >= x[0]! && n <= x[1]! && 2 * n >= y[0]! && 2 * n <= y[1]!);
  expect(inside.length).toBeGreaterThan(5);
  expect(inside.length).toBeLessThan(35);
  await panel(page).getByText(`${inside.length} rows are in it. All of them get it, or none.`).waitFor();
  await looksRight(page, 'chart-region-desk');
  // a click draws nothing, and the address brings the same back
  await drag(page, [50, 50], [50, 50]);
  expect(regionIn(page)).toEqual({ x, y });
  await page.reload();
  await page.locator('.drawing rect.region').waitFor();
  await panel(page).getByLabel('Say it as').selectOption('outlier');
  await panel(page).getByLabel('Why, if you like').fill('off the slope');
  await panel(page)
    .getByRole('button', { name: `Annotate ${inside.length} rows` })
    .click();
  await page.getByText(`${inside.length} rows are annotated.`).waitFor();
  expect(await annotated(id, table, 'off the slope')).toEqual(inside);

  // by keyboard alone
  await panel(page).getByRole('button', { name: 'No region' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.drawing rect.region').waitFor({ state: 'detached' });
  await panel(page).getByLabel('n from').focus();
  for (const [at, value] of ['3', '5.5', '0', '1000'].entries()) {
    if (at > 0) await page.keyboard.press('Tab');
    await page.keyboard.type(value);
  }
  await page.keyboard.press('Enter');
  await panel(page).getByText('3 rows are in it.').waitFor();
  await panel(page).getByLabel('What you say').fill('by keys');
  await page.keyboard.press('Enter');
  await expect.poll(() => annotated(id, table, 'by keys')).toEqual([3, 4, 5]);

  // a filter of the chart holds for the region too; other columns begin without one
  const filters = encodeURIComponent(JSON.stringify([{ column: 'n', operator: 'not_equals', value: 4 }]));
  await page.goto(`${addressOf('scatter', 'n')}&filters=${filters}&region=${encodeURIComponent('{"x":[3,5.5],"y":[0,1000]}')}`);
  await panel(page).getByText('2 rows are in it.').waitFor();
  await page.getByLabel('Across (x)').selectOption('height');
  await page.locator('.drawing rect.region').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('region')).toBeNull();

  // moments; and what is summed up has no rows to choose
  await page.goto(addressOf('line', 'taken'));
  await page.locator('.drawing .brushed').waitFor();
  await drag(page, [0, 0], [50, 100]);
  await panel(page)
    .getByRole('status')
    .getByText(/are in it/)
    .waitFor();
  const [from, to] = regionIn(page).x as [number, number];
  const during = Array.from({ length: 40 }, (_, at) => Date.UTC(2026, 4, 1) + (at + 1) * 3_600_000).filter((ms) => ms >= from && ms <= to);
  await panel(page).getByText(`${during.length} rows are in it.`).waitFor();
  await page.getByLabel('Sum rows up by').selectOption('avg');
  // a mark is more than a row then: the panel has no ends, and leads back to single rows
  await panel(page).getByLabel('taken (UTC) from').waitFor({ state: 'detached' });
  await panel(page).getByRole('button', { name: 'Draw every row by itself' }).click();
  await panel(page).getByLabel('taken (UTC) from').waitFor();
  expect(complaints).toEqual([]);
  await visitor.context.close();
});

test.each(['day', 'clock'])('holds the rows between two ends of %s', async (across) => {
  const id = await makeExperiment(site.owner, 'Days', site.sample.organizationId);
  const days = ['2026-05-03', '2026-05-17', '2026-05-31'];
  const table = await uploadTable(
    site.owner,
    id,
    'days',
    `day;clock;spad\n${days.map((day, at) => `${day};${day} 00:00:00;4${at}`).join('\n')}\n`,
  );
  const { page, complaints, context } = await site.visitAs('member');
  const sources = JSON.stringify([
    { role: 'x', columnName: across },
    { role: 'y', columnName: 'spad' },
  ]);
  const holds = async (from: string, to: string, rows: RegExp) => {
    const region = JSON.stringify({ x: [Date.parse(`${from}Z`), Date.parse(`${to}Z`)], y: [0, 100] });
    await page.goto(
      `${site.baseUrl}/experiments/${id}/tables/${table}/chart?${new URLSearchParams({ type: 'scatter', sources, region }).toString()}`,
    );
    await panel(page).getByRole('status').getByText(rows).waitFor();
  };
  await holds('2026-05-03T00:00', '2026-05-17T00:00', /^2 rows are in it/);
  await holds('2026-05-16T12:00', '2026-05-17T12:00', /^1 row is in it/);
  await holds('2026-05-17T06:00', '2026-05-17T12:00', /^No row is in it/);
  if (across === 'day') {
    await holds('2026-05-16T12:00', '2026-05-18T12:00', /^1 row is in it/);
    expect(await panel(page).getByLabel('day from').inputValue()).toBe('2026-05-17');
    await panel(page).getByLabel('day to').fill('2026-05-31');
    await panel(page).getByRole('button', { name: 'Choose the region' }).click();
    await panel(page)
      .getByText(/^2 rows are in it/)
      .waitFor();
  }
  expect(complaints).toEqual([]);
  await context.close();
});

test('says when a region holds too many, and keeps what was typed when it is refused', async () => {
  const { id, table, addressOf } = await experimentOnSlope(MANY);
  const shared = { granteeType: 'user', granteeId: site.sample.users.viewer.id, role: 'viewer' };
  expect((await site.owner('POST', `/api/v1/experiment/${id}/collaborators`, { body: shared })).status).toBeLessThan(300);
  const { page, complaints, context } = await site.visitAs('viewer', 'phone');
  const region = (to: number) => `&region=${encodeURIComponent(JSON.stringify({ x: [1, to], y: [0, 1e6] }))}`;
  await page.goto(addressOf('scatter', 'n') + region(MANY));
  await panel(page).getByText('10,050 rows are in it.').waitFor();
  await panel(page)
    .getByText(/at most 10,000 rows at once/)
    .waitFor();
  expect(await panel(page).getByLabel('What you say').count()).toBe(0);
  await page.goto(addressOf('scatter', 'n') + region(10_000));
  await panel(page).getByLabel('What you say').fill('kept');
  await looksRight(page, 'chart-region-phone');
  await panel(page)
    .getByRole('button', { name: /Annotate 10,?000 rows/ })
    .click();
  // the page has its answer later than the rows have it
  await page.getByText(/^10,?000 rows are annotated\.$/).waitFor({ timeout: 60_000 });
  expect(await annotated(id, table, 'kept')).toHaveLength(10_000);
  await panel(page).getByLabel('What you say').fill('too late');
  await removeAccess(site.owner, id, site.sample.users.viewer.id);
  await panel(page)
    .getByRole('button', { name: /Annotate/ })
    .click();
  await panel(page)
    .getByRole('alert')
    .getByText(/Ask somebody who manages it/)
    .waitFor();
  expect(await panel(page).getByLabel('What you say').inputValue()).toBe('too late');
  expect(complaints).toEqual([]);
  await context.close();
});

test('offers no region to who cannot contribute, nor where the experiment is archived', async () => {
  const { id, addressOf } = await experimentOnSlope(5);
  const shared = { granteeType: 'user', granteeId: site.sample.users.viewer.id, role: 'viewer' };
  expect((await site.owner('POST', `/api/v1/experiment/${id}/collaborators`, { body: shared })).status).toBeLessThan(300);
  const { page, context } = await site.visitAs('viewer');
  await page.goto(addressOf('scatter', 'n'));
  await panel(page).waitFor();
  await site.owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
  await page.reload();
  await page.locator('.drawing svg').waitFor();
  expect(await panel(page).count()).toBe(0);
  expect(await page.locator('.drawing .brushed').count()).toBe(0);
  await context.close();
});
