import type pg from 'pg';

const PEOPLE = 2_000;
const ORGANIZATIONS = 400;

/** Common words first: the n-th is in about 1/n of the names. */
const WORDS =
  `trial leaf maize drought chlorophyll canopy photosynthesis nitrogen wheat stress fluorescence root stomata humidity greenhouse barley salinity
  tomato phosphorus carbon soil light temperature response growth yield plot field season variety genotype phenotype sensor measurement calibration protocol
  quenching absorbance spectrum pigment water potential transpiration conductance biomass harvest irrigation fertiliser potassium magnesium calcium zinc iron
  copper rice sorghum millet cassava potato bean soybean sunflower cotton coffee cocoa banana apple grape orange pine spruce oak birch moss fern algae lichen`
    .split(/\s+/)
    .map((word) => `'${word}'`);
/** A word by the hash of a number, common ones more often. */
const drawn = (seed: string) =>
  `(array[${WORDS.join(',')}])[floor(exp(ln(${WORDS.length + 1}) * ((hashint8(${seed})::bigint + 2147483648) / 4294967297.0)))::integer]`;
const PLACES = `'Wageningen','Nairobi','East Lansing','Freiburg','Kyoto','Lima','Accra','Pune','Davis','Uppsala','Canberra','Montpellier'`;
const FIRST = `'Ana','Bram','Chen','Dalia','Emeka','Fatou','Goran','Hana','Ines','Jun','Kofi','Lena'`;

/** 200,000 experiments, protocols, macros and workbooks, of 2,000 people in 400 organizations; a fifth is public, and some experiments have a place. */
export async function seedSearch(client: pg.Client, resources: number): Promise<{ member: string; stranger: string }> {
  // The search documents are made at the end, all at once.
  await client.query('set session_replication_role = replica');
  const { rows: inverted } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where tablename = 'resources' and indexdef like '%USING gin%'`,
  );
  for (const { name } of inverted) await client.query(`drop index ${name}`);
  await client.query(`create function pg_temp.uid(kind integer, n bigint) returns uuid language sql immutable
    as $$ select ('00000000-0000-7000-800' || kind || '-' || lpad(to_hex(n), 12, '0'))::uuid $$`);
  await client.query(`insert into users (id, email, name) select pg_temp.uid(0, n), 'search' || n || '@example.org', 'Search ' || n
    from generate_series(1, ${PEOPLE}) n`);
  await client.query(`insert into profiles (user_id, first_name, last_name) select pg_temp.uid(0, n), (array[${FIRST}])[1 + n % 12], 'Surname' || n
    from generate_series(1, ${PEOPLE}) n`);
  await client.query(
    `insert into organizations (id, name, slug) select pg_temp.uid(1, n), 'Lab ' || n, 'search-' || n from generate_series(1, ${ORGANIZATIONS}) n`,
  );
  // the first person belongs to a tenth of them
  await client.query(`insert into organization_members (id, organization_id, user_id, role)
    select gen_random_uuid(), pg_temp.uid(1, n), pg_temp.uid(0, p), case when p = 1 then 'member' else 'owner' end
    from generate_series(1, ${ORGANIZATIONS}) n, lateral (values (1 + n), (1)) as of (p) where p > 1 or n % 10 = 0`);
  await client.query(`create temporary table drawn as
    select n, (array['experiment', 'protocol', 'macro', 'workbook'])[1 + n % 4] as type,
      (select string_agg(${drawn('n * 31 + k')}, ' ')
       from generate_series(1, 2 + n % 3) k) as name,
      (select string_agg(${drawn('n * 37 + k')}, ' ')
       from generate_series(1, 12) k) as description
    from generate_series(1, ${resources}) n`);
  await client.query(`insert into resources (id, type, organization_id, visibility, name, description, created_by, created_at, updated_at)
    select pg_temp.uid(2, n), type, pg_temp.uid(1, 1 + (n * 7) % ${ORGANIZATIONS}), case when n % 5 = 0 then 'public' else 'private' end,
      name || ' ' || n, 'About ' || description, pg_temp.uid(0, 1 + n % ${PEOPLE}), now() - n * interval '1 minute', now() - n * interval '1 minute'
    from drawn`);
  await client.query(
    `insert into experiments (id, status) select pg_temp.uid(2, n), case when n % 40 = 0 then 'archived' else 'active' end from drawn where type = 'experiment'`,
  );
  await client.query(`insert into protocols (id, family) select pg_temp.uid(2, n), 'multispeq' from drawn where type = 'protocol'`);
  await client.query(
    `insert into macros (id, language) select pg_temp.uid(2, n), (array['python', 'r', 'javascript'])[1 + n % 3] from drawn where type = 'macro'`,
  );
  await client.query(`insert into workbooks (id) select pg_temp.uid(2, n) from drawn where type = 'workbook'`);
  await client.query(`insert into locations (id, experiment_id, name, latitude, longitude)
    select gen_random_uuid(), pg_temp.uid(2, n), (array[${PLACES}])[1 + (n / 12) % 12] || ' station', 50, 5 from drawn where type = 'experiment' and n % 3 = 0`);
  await client.query(`insert into grants (id, resource_id, resource_type, user_id, role)
    select gen_random_uuid(), pg_temp.uid(2, n), type, pg_temp.uid(0, 1 + (n * 7919) % ${PEOPLE}), 'viewer' from drawn where n % 2 = 0
    on conflict do nothing`);
  await client.query('update resources set search = resource_search(id)');
  await client.query('insert into name_words select distinct words_of_name(name) from resources');
  for (const { definition } of inverted) await client.query(definition);
  await client.query('set session_replication_role = origin');
  // every row was written twice
  await client.query('vacuum full resources');
  await client.query('vacuum analyze');
  const { rows } = await client.query<{ member: string; stranger: string }>(
    'select pg_temp.uid(0, 1)::text as member, pg_temp.uid(0, 1999)::text as stranger',
  );
  return rows[0] ?? { member: '', stranger: '' };
}
