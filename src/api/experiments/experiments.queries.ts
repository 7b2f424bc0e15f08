import type { Queryable, Slice } from '../../database/database.ts';
import { gatherQuestions } from '../../database/gathering.ts';
import { constant, fragment, nothing, sql, type Fragment, type Labelled } from '../../database/sql.ts';
import type { Experiment, ExperimentPatch, ExperimentStatus, ListScope, Visibility } from './experiments.model.ts';

const isPublic = fragment`(r.visibility = 'public' or coalesce(r.public_from <= now(), false))`;

const columns = fragment`
  r.id, r.name, r.description, r.status, r.visibility,
  r.public_from as "embargoUntil", r.anonymize_contributors as "anonymizeContributors",
  r.workbook_id as "workbookId", r.workbook_version_id as "workbookVersionId",
  r.organization_id as "organizationId", case when o.personal_user_id is null then o.name end as "organizationName",
  r.created_by as "createdBy", p.first_name as "ownerFirstName", p.last_name as "ownerLastName",
  c.collaborators as "membersCount", r.created_at as "createdAt", r.updated_at as "updatedAt"`;

/** Selects what the two rows of an experiment hold: one in `resources`, one in `experiments`. */
const experiments = fragment`
  select r.id, r.name, r.description, e.status, case when ${isPublic} then 'public' else 'private' end as visibility, r.public_from,
    e.anonymize_contributors, e.workbook_id, e.workbook_version_id, r.organization_id, r.created_by, r.created_at, r.updated_at, r.version
  from resources r join experiments e on e.id = r.id`;

export interface ExperimentFilter {
  userId: string;
  scope: ListScope;
  status: ExperimentStatus | undefined;
  search: string | undefined;
  visibility: Visibility | undefined;
  createdBy: 'me' | undefined;
}

/** The condition on the status. Archived experiments match only when asked for. */
const hasStatus = ({ status }: ExperimentFilter) =>
  status === undefined
    ? fragment`not r.is_archived`
    : fragment`exists (select from experiments e where e.id = r.id and e.status = ${status})`;

/** The condition on a resource's own row: who made it, and who may find it. */
const hasTraits = ({ userId, visibility, createdBy }: ExperimentFilter) => fragment`
  ${createdBy === undefined ? fragment`true` : fragment`r.created_by = ${userId}`}
  and ${visibility === undefined ? fragment`true` : visibility === 'public' ? isPublic : fragment`not ${isPublic}`}`;

const isNarrowed = ({ visibility, createdBy }: ExperimentFilter) => visibility !== undefined || createdBy !== undefined;

/** Whether everything that can match is related to the caller. This is so for what they made, and for private experiments that they can read. */
const isRelatedOnly = ({ scope, visibility, createdBy }: ExperimentFilter) =>
  scope === 'related' || visibility === 'private' || createdBy !== undefined;

/** Selects the experiments that the caller reaches by an organization or a grant, and the public ones that they made. */
const related = ({ userId }: ExperimentFilter) => fragment`
  select a.resource_id as id, a.updated_at, a.is_archived from effective_access a
  where a.user_id = ${userId} and a.resource_type = 'experiment' and a.rank < 5 and a.can_read
  union
  select r.id, r.updated_at, r.is_archived from resources r where r.created_by = ${userId} and r.type = 'experiment' and ${isPublic}`;

const SORTED = fragment`r.id, r.updated_at`;

/** Selects these columns of the matching experiments that are related to the caller. `ordered` follows the condition. */
const ownRows = (filter: ExperimentFilter, columns: Fragment, ordered: Fragment) =>
  isNarrowed(filter)
    ? fragment`select ${columns} from (${related(filter)}) own join resources r on r.id = own.id where ${hasStatus(filter)} and ${hasTraits(filter)} ${ordered}`
    : fragment`select ${columns} from (${related(filter)}) r where ${hasStatus(filter)} ${ordered}`;

/**
 * Selects the public rows that match, by two queries whose indexes have them in order: rows that are public, and rows that an embargo has opened. No row is in
 * both.
 */
const publicRows = (filter: ExperimentFilter, columns: Fragment, ordered: Fragment) => [
  fragment`select ${columns} from resources r
    where r.type = 'experiment' and r.visibility = 'public' and ${hasStatus(filter)} ${ordered}`,
  fragment`select ${columns} from resources r
    where r.type = 'experiment' and r.visibility = 'private' and r.public_from <= now() and ${hasStatus(filter)} ${ordered}`,
];

/** The least power of ten, from 100 on, that is not below a number: the pages of a list need few numbers. */
const roundUp = (number: number) => Math.max(100, 10 ** Math.ceil(Math.log10(number)));

/** Selects matching ids with their sort key, at least `least` where there are as many, so that a page costs the same whatever the table holds. */
const matching = (filter: ExperimentFilter, least: number) => {
  const ordered = fragment`order by r.updated_at desc, r.id desc limit ${constant(roundUp(least))}`;
  const own = ownRows(filter, SORTED, ordered);
  if (isRelatedOnly(filter)) return own;
  const open = publicRows(filter, SORTED, ordered)
    .map((rows) => fragment`(${rows})`)
    .reduce((all, rows) => fragment`${all} union all ${rows}`);
  return filter.visibility === 'public' ? open : fragment`(${own}) union (${open})`;
};

/** Lists parts of what matches that have no row in common, so that counting them compares no rows: public experiments, and the caller's that are not public. */
const listParts = (filter: ExperimentFilter) => {
  if (isRelatedOnly(filter)) return [ownRows(filter, nothing, nothing)];
  const open = publicRows(filter, nothing, nothing);
  return filter.visibility === 'public' ? open : [...open, ownRows({ ...filter, visibility: 'private' }, nothing, nothing)];
};

// a search ranks what it finds, so it must see more than one page of candidates
const SEARCHED = 10_001;

const found = (filter: ExperimentFilter, most: number) => {
  const { userId, search, status, visibility, createdBy } = filter;
  const maker = createdBy === undefined ? null : userId;
  return fragment`search_ids(${userId}, array['experiment'], ${isRelatedOnly(filter)}, ${search ?? ''}, ${status ?? null}, null, ${most},
    ${visibility ?? null}, ${maker})`;
};

export const listExperiments = (db: Queryable, filter: ExperimentFilter, page: Slice) => {
  const ordered =
    filter.search === undefined
      ? fragment`select m.id, row_number() over (order by m.updated_at desc, m.id desc) as position from (${matching(filter, page.limit + page.offset)}) m`
      : fragment`select id, position from ${found(filter, SEARCHED)} f`;
  // people and organizations that many rows share are read once
  return db.rows<Experiment>(sql('experiments.list')`
    with page as (select id, position from (${ordered}) ordered order by position limit ${page.limit} offset ${page.offset}),
    shown as materialized (select page.position, r.* from page join lateral (${experiments} where r.id = page.id) r on true),
    homes as materialized (select o.* from (select distinct organization_id as id from shown) home join organizations o on o.id = home.id),
    makers as materialized (select p.* from (select distinct created_by as id from shown) maker join people p on p.user_id = maker.id)
    select ${columns}
    from shown r
    join homes o on o.id = r.organization_id
    join makers p on p.user_id = r.created_by
    join collaborators_of(array(select id from shown order by position), array(select organization_id from shown order by position)) c on c.resource_id = r.id
    order by r.position`);
};

export const countExperiments = (db: Queryable, filter: ExperimentFilter, most: number) => {
  const parts = filter.search === undefined ? listParts(filter) : [fragment`select from ${found(filter, most)} f`];
  const counts = parts.map((rows) => fragment`(select count(*) from (${rows} limit ${constant(most)}) counted)`);
  return db.count(sql('experiments.count')`
    select least(${most}, ${counts.reduce((sum, count) => fragment`${sum} + ${count}`)}) as count`);
};

export type VersionedExperiment = Experiment & { version: number };

const findExperiments = async (
  db: Queryable,
  ids: readonly string[],
  statement: Labelled,
): Promise<ReadonlyMap<string, VersionedExperiment>> => {
  const rows = await db.rows<VersionedExperiment>(statement`
    select ${columns}, r.version,
      coalesce((select json_strip_nulls(json_agg(l)) from (
        select id, name, latitude::float8, longitude::float8, country, region, municipality, postal_code as "postalCode", address_label as "addressLabel",
          to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt", to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
        from locations where experiment_id = r.id order by ordinal) l), '[]') as locations
    from unnest((select ${ids}::uuid[])) asked (id)
    join lateral (${experiments} where r.id = asked.id) r on true
    join organizations o on o.id = r.organization_id
    join people p on p.user_id = r.created_by
    cross join lateral collaborators_of(array[r.id], array[r.organization_id]) c`);
  return new Map(rows.map((row) => [row.id, row]));
};

/** Finds one experiment. Experiments that others ask for at the same moment are found by the same statement. */
export const findExperiment = gatherQuestions<string, VersionedExperiment>({
  label: 'experiments.find',
  name: (id) => id.toLowerCase(),
  shares: true,
  ask: findExperiments,
});

/** Whether people walk through a flow in the field. */
export const hasFlow = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.one(sql('experiments.hasFlow')`select from flows where experiment_id = ${id}`)) !== undefined;

/** Locks the row for a change and says what state it is in. After a wait only the locked row is read anew, so nothing is read of another. */
export const lockExperiment = (db: Queryable, id: string) =>
  db.one<{ isArchived: boolean; visibility: Visibility; version: number; organizationId: string }>(sql('experiments.lock')`
    select r.is_archived as "isArchived", case when ${isPublic} then 'public' else 'private' end as visibility, r.version, r.organization_id as "organizationId"
    from resources r where r.id = ${id} and r.type = 'experiment' for update`);

export type NewExperimentRow = Pick<
  Experiment,
  'id' | 'organizationId' | 'createdBy' | 'name' | 'description' | 'visibility' | 'embargoUntil' | 'status' | 'anonymizeContributors'
>;

export const insertExperiment = (db: Queryable, row: NewExperimentRow) =>
  db.run(sql('experiments.insert')`
    with resource as (
      insert into resources (id, type, organization_id, visibility, public_from, name, description, created_by)
      values (${row.id}, 'experiment', ${row.organizationId}, ${row.visibility}, ${row.embargoUntil}, ${row.name}, ${row.description}, ${row.createdBy})
      returning id
    )
    insert into experiments (id, status, anonymize_contributors) select id, ${row.status}, ${row.anonymizeContributors} from resource`);

export type ExperimentChanges = Omit<ExperimentPatch, 'locations'>;

/** Sets what is given and raises the version; absent fields keep their value. */
export const updateExperiment = (db: Queryable, id: string, changes: ExperimentChanges) =>
  db.run(sql('experiments.update')`
    with changed as (
      update resources set
        name = coalesce(${changes.name ?? null}, name),
        description = case when ${changes.description !== undefined} then ${changes.description ?? null} else description end,
        public_from = case when ${changes.embargoUntil !== undefined} then ${changes.embargoUntil ?? null}::timestamptz else public_from end,
        updated_at = now(), version = version + 1
      where id = ${id} returning id
    )
    update experiments e set
      status = coalesce(${changes.status ?? null}, e.status),
      anonymize_contributors = coalesce(${changes.anonymizeContributors ?? null}::boolean, e.anonymize_contributors)
    from changed where e.id = changed.id`);

/** Asks for the removal of everything that a deleted experiment leaves behind. */
export const insertErasure = (db: Queryable, erasure: { id: string; experimentId: string; requestedBy: string }) =>
  db.run(sql('experiments.insertErasure')`
    insert into erasures (id, experiment_id, requested_by) values (${erasure.id}, ${erasure.experimentId}, ${erasure.requestedBy})`);

/** Finds the status of an experiment, and keeps it as it is until the transaction ends. */
export const findStatus = (db: Queryable, id: string) =>
  db.value<ExperimentStatus>(sql('experiments.status')`select status from experiments where id = ${id} for share`);
