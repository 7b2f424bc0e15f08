// A bare Express that answers each question by a statement or two: what is left of a service when nobody has to be asked whether they may. Prints its port.
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';

const [url = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 20 });
const app = express();
app.disable('x-powered-by');
app.set('etag', false);

const query = async (text: string, ...values: unknown[]) =>
  (await pool.query({ name: text.slice(0, 60), text, values })).rows as Record<string, unknown>[];

app.get('/documents/:id', async (request, response) => {
  const [row] = await query('select document from documents where id = $1', request.params.id);
  response.json(row?.['document']);
});
app.get('/hourly', async (_, response) => {
  response.json(
    await query(`select date_trunc('hour', measured_at) as hour, avg(spad) as mean, count(*) as n from bench group by 1 order by 1`),
  );
});
app.get('/distinct', async (request, response) => {
  response.json(await query(`select distinct sensor from bench where sensor <> '' order by sensor limit $1`, request.query['limit']));
});
app.get('/drought', async (request, response) => {
  const where = `from bench where treatment = 'drought' and spad > $1`;
  const { least } = request.query;
  const [rows, [count]] = await Promise.all([
    query(`select * ${where} order by measured_at desc limit 100`, least),
    query(`select count(*) as n ${where}`, least),
  ]);
  response.json({ rows, total: Number(count?.['n']) });
});
app.get('/newest', async (request, response) => {
  const [rows, [count]] = await Promise.all([
    query('select * from bench order by measured_at desc limit 20 offset $1', request.query['offset']),
    query('select count(*) as n from bench'),
  ]);
  response.json({ rows, total: Number(count?.['n']) });
});
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
