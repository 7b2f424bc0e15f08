/**
 * Counts of what devices measured in any half-open range. Hours and days that the range holds whole come from sums; an hour that it cuts is counted from single
 * measurements.
 */
import type { Queryable } from '../../database/database.ts';
import { fragment, nothing, sql } from '../../database/sql.ts';
import type { ExperimentThroughput, ObservedExperiment, PayloadView } from './monitoring.model.ts';
import type { BucketedRange, CutRange } from './ranges.ts';

type Piece = ReturnType<typeof fragment>;

/** Makes rows like those of `message_hours`, for the measurements of a range alone. */
function hoursOf(thingNames: readonly string[], { from, to, firstHour, cutHours: cut }: CutRange): Piece {
  const whole = fragment`
    select h.client_id, h.hour, h.experiment_id, h.version, h.protocol_id, h.workbook_version_id, h.macros, h.count, h.with_gps, h.with_battery, h.battery_sum, h.battery_count, h.first_at, h.last_at
    from message_hours h where h.client_id = any (${thingNames}::text[]) and h.hour >= ${firstHour} and h.hour < ${to} and h.first_at >= ${from} and h.last_at < ${to}`;
  if (cut.length === 0) return whole;
  return fragment`${whole}
    union all
    select h.client_id, h.hour, h.experiment_id, h.version, h.protocol_id, h.workbook_version_id, h.macros, i.count, i.with_gps, i.battery_count, i.battery_sum, i.battery_count, i.first_at, i.last_at
    from message_hours h cross join lateral (
      select count(*) as count, count(*) filter (where gps) as with_gps, coalesce(sum(battery), 0) as battery_sum, count(battery) as battery_count, min(at) as first_at, max(at) as last_at
      from message_instants m where m.hour_id = h.id and m.at >= ${from} and m.at < ${to}) i
    where h.client_id = any (${thingNames}::text[]) and h.hour = any (${cut}::timestamptz[]) and not (h.first_at >= ${from} and h.last_at < ${to}) and i.count > 0`;
}

/** Makes rows of device, bucket, experiment and count. A bucket may have several rows, some with a negative count. */
function partsOf(thingNames: readonly string[], range: BucketedRange): Piece {
  const { bucket, split } = range;
  const counts = (part: CutRange, sign: 1 | -1) =>
    fragment`select h.client_id, date_trunc(${bucket}, h.hour, 'UTC') as bucket, h.experiment_id, ${sign}::bigint * h.count as count from (${hoursOf(thingNames, part)}) h`;
  if (!split) return counts(range, 1);
  const { days, plus, minus } = split;
  const whole = fragment`select d.client_id, d.day as bucket, d.experiment_id, d.count from message_days d
    where d.client_id = any (${thingNames}::text[]) and d.day >= ${days.from} and d.day < ${days.to}`;
  const rest = [...plus.map((part) => counts(part, 1)), ...minus.map((part) => counts(part, -1))];
  return rest.reduce((all, part) => fragment`${all} union all ${part}`, whole);
}

/** Makes the list of those experiments of `c` that the caller may read; each is checked once. */
const readable = (userId: string) => fragment`mine as materialized (
      select e.experiment_id as id from (select distinct experiment_id from c) e
      where exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = e.experiment_id and a.can_read))`;

/** Counts of a device, to be summed by bucket. `counts[n]` belongs to the bucket whose place is `buckets[n]`, and may be negative. */
export interface CountsOfOne {
  thingName: string;
  buckets: number[];
  counts: number[];
}

/** Lists each device's counts as lists of whole numbers, because a row for each device and bucket takes several times as long. */
export function listDeviceCounts(db: Queryable, thingNames: readonly string[], range: BucketedRange): Promise<CountsOfOne[]> {
  const { size, starts } = range;
  const first = (starts[0]?.getTime() ?? 0) / 1_000;
  return db.rows<CountsOfOne>(sql('monitoring.throughputOf')`
    select b.client_id as "thingName", json_agg(((date_part('epoch', b.bucket) - ${first}) / ${size / 1_000})::integer) as buckets, json_agg(b.count) as counts
    from (${partsOf(thingNames, range)}) b group by 1`);
}

export const listExperimentThroughput = (db: Queryable, userId: string, thingNames: readonly string[], range: BucketedRange) =>
  db.rows<ExperimentThroughput>(sql('monitoring.byExperiment')`
    with c as materialized (
      select bucket, experiment_id, sum(count) as count from (${partsOf(thingNames, range)}) b group by 1, 2 having sum(count) > 0
    ), ${readable(userId)}
    select c.bucket as "bucketStart", mine.id as "experimentId", sum(c.count)::bigint as count
    from c left join mine on mine.id = c.experiment_id group by 1, 2 order by 1, 2`);

export const listBattery = (db: Queryable, thingName: string, range: BucketedRange) =>
  db.rows<{ bucketStart: Date; averageBattery: number | null }>(sql('monitoring.battery')`
    select date_trunc(${range.bucket}, h.hour, 'UTC') as "bucketStart", sum(battery_sum) / nullif(sum(battery_count), 0) as "averageBattery"
    from (${hoursOf([thingName], range)}) h group by 1 order by 1`);

/**
 * Finds the totals of a device. Ids of protocols, workbooks and macros are told only for experiments that the caller may read. Measurements of other
 * experiments are left out of the mix of protocols, and have no id in the mixes of workbooks and macros.
 */
export function findTotals(db: Queryable, userId: string, thingName: string, range: CutRange): Promise<PayloadView | undefined> {
  const { wholeHours: whole, cutHours: cut } = range;
  const runs = fragment`
    select r.run_id from message_runs r where r.client_id = ${thingName} and r.hour >= ${whole.from} and r.hour < ${whole.to}
    ${
      cut.length === 0
        ? nothing
        : fragment`union all
    select m.run_id from message_hours h join message_instants m on m.hour_id = h.id
    where h.client_id = ${thingName} and h.hour = any (${cut}::timestamptz[]) and m.run_id is not null and m.at >= ${range.from} and m.at < ${range.to}`
    }`;
  return db.one<PayloadView>(sql('monitoring.totals')`
    with c as materialized (${hoursOf([thingName], range)}), ${readable(userId)},
    h as materialized (select c.*, mine.id is not null as is_readable from c left join mine on mine.id = c.experiment_id),
    firmware as (select nullif(version, '') as version, sum(count)::bigint as count from h group by 1),
    protocols as (select protocol_id as id, sum(count)::bigint as count from h where protocol_id <> '' and is_readable group by 1),
    workbooks as (select case when is_readable then nullif(workbook_version_id, '') end as id, sum(count)::bigint as count from h group by 1),
    macros as (
      select case when is_readable then nullif(m.id, '') end as id, sum(h.count)::bigint as count from h, unnest(case when h.macros = '' then array[''] else string_to_array(h.macros, ',') end) as m (id) group by 1)
    select coalesce(sum(count), 0)::bigint as "totalMeasurements", coalesce(sum(with_gps), 0)::bigint as "withGps", coalesce(sum(with_battery), 0)::bigint as "withBattery",
      (select count(distinct r.run_id) from (${runs}) r) as "workbookRuns",
      (select coalesce(json_agg(json_build_object('version', version, 'count', count) order by count desc, version), '[]') from firmware) as "firmwareMix",
      (select coalesce(json_agg(json_build_object('protocolId', id, 'count', count) order by count desc, id), '[]') from protocols) as "protocolMix",
      (select coalesce(json_agg(json_build_object('workbookVersionId', w.id, 'workbookId', v.workbook_id, 'workbookVersion', v.version, 'count', w.count) order by w.count desc, w.id), '[]')
         from workbooks w left join workbook_versions v on v.id::text = w.id) as "workbookMix",
      (select coalesce(json_agg(json_build_object('macroId', id, 'count', count) order by count desc, id), '[]') from macros) as "macroMix"
    from h`);
}

export interface VersionHour {
  version: string;
  firstAt: Date;
  lastAt: Date;
  count: number;
}

/** Lists firmware versions by hour, oldest first. */
export const listVersions = (db: Queryable, thingName: string, range: CutRange) =>
  db.rows<VersionHour>(sql('monitoring.versions')`
    select version, min(first_at) as "firstAt", max(last_at) as "lastAt", sum(count)::bigint as count
    from (${hoursOf([thingName], range)}) h where version <> '' group by hour, version order by min(first_at), version`);

export const listLatestVersions = (db: Queryable, thingNames: readonly string[], range: CutRange) =>
  db.rows<{ thingName: string; version: string; lastSeen: Date }>(sql('monitoring.latestVersions')`
    select distinct on (client_id) client_id as "thingName", version, last_at as "lastSeen"
    from (${hoursOf(thingNames, range)}) h where version <> '' order by client_id, last_at desc, version`);

export const listObserved = (db: Queryable, userId: string, thingName: string, range: CutRange) =>
  db.rows<ObservedExperiment>(sql('monitoring.observed')`
    with c as materialized (
      select experiment_id, sum(count) as count, max(last_at) as last_at from (${hoursOf([thingName], range)}) h group by 1
    ), ${readable(userId)}
    select mine.id as "experimentId", sum(c.count)::bigint as count, max(c.last_at) as "lastAt"
    from c left join mine on mine.id = c.experiment_id group by 1 order by 2 desc, 1`);
