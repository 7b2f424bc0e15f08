import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { Contributor, ExperimentJoinRequest, ExperimentJoinStatus } from './membership.model.ts';

const columns = fragment`
  j.id, j.experiment_id as "experimentId",
  json_build_object('id', p.user_id, 'firstName', p.first_name, 'lastName', p.last_name, 'email', p.email, 'avatarUrl', p.avatar_url) as "user",
  j.message, j.status, j.decided_by as "decidedBy", j.decided_at as "decidedAt", j.created_at as "createdAt", j.updated_at as "updatedAt"`;

/** Lists pending requests, newest first. */
export const listJoinRequests = (db: Queryable, experimentId: string) =>
  db.rows<ExperimentJoinRequest>(sql('experiments.listJoinRequests')`
    select ${columns} from experiment_join_requests j join people p on p.user_id = j.user_id
    where j.experiment_id = ${experimentId} and j.status = 'pending'
    order by j.created_at desc, j.id desc limit 1000`);

export const findJoinRequest = (db: Queryable, experimentId: string, id: string) =>
  db.one<ExperimentJoinRequest>(sql('experiments.findJoinRequest')`
    select ${columns} from experiment_join_requests j join people p on p.user_id = j.user_id
    where j.experiment_id = ${experimentId} and j.id = ${id}`);

export const findPendingRequest = (db: Queryable, experimentId: string, userId: string) =>
  db.one<ExperimentJoinRequest>(sql('experiments.findPendingRequest')`
    select ${columns} from experiment_join_requests j join people p on p.user_id = j.user_id
    where j.experiment_id = ${experimentId} and j.user_id = ${userId} and j.status = 'pending'`);

/** Adds a request. Answers 0 when one is pending already. */
export const insertJoinRequest = (db: Queryable, request: { id: string; experimentId: string; userId: string; message: string | null }) =>
  db.run(sql('experiments.insertJoinRequest')`
    insert into experiment_join_requests (id, experiment_id, user_id, message)
    values (${request.id}, ${request.experimentId}, ${request.userId}, ${request.message})
    on conflict (experiment_id, user_id) where status = 'pending' do nothing`);

/** Decides a request. Answers 0 when it was decided meanwhile. */
export const decideJoinRequest = (db: Queryable, id: string, decision: { status: ExperimentJoinStatus; decidedBy: string }) =>
  db.run(sql('experiments.decideJoinRequest')`
    update experiment_join_requests set status = ${decision.status}, decided_by = ${decision.decidedBy}, decided_at = now(), updated_at = now()
    where id = ${id} and status = 'pending'`);

/** Who answers for an experiment: living owners of its organization, and people with a grant of full control. */
export const listAnswerable = (db: Queryable, experimentId: string) =>
  db.values<string>(sql('experiments.listAnswerable')`
    select s.user_id from resources r join organization_staff s on s.organization_id = r.organization_id and s.is_owner where r.id = ${experimentId}
    union
    select user_id from covering_grants where resource_id = ${experimentId}`);

export const findAnonymity = (db: Queryable, experimentId: string) =>
  db.one<{ isAnonymised: boolean; secret: Buffer; collaboratorCount: number }>(sql('experiments.findAnonymity')`
    select anonymize_contributors as "isAnonymised", pseudonym_secret as secret, collaborators as "collaboratorCount"
    from experiments join collaborator_counts on resource_id = id where id = ${experimentId}`);

/** The creator and everybody with a direct grant, by name. */
export const listContributors = (db: Queryable, experimentId: string) =>
  db.rows<Contributor>(sql('experiments.listContributors')`
    select p.user_id as "userId", p.first_name as "firstName", p.last_name as "lastName", p.avatar_url as "avatarUrl"
    from (
      select created_by as user_id from resources where id = ${experimentId}
      union
      select user_id from grants where resource_id = ${experimentId} and user_id is not null and confers_read
    ) who
    join people p on p.user_id = who.user_id
    order by p.first_name, p.last_name, p.user_id`);
