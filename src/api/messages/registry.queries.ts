import type { Queryable, Transaction } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { RegistryRow } from '../../ingest/dimensions.ts';

export const anyRegistryChange = fragment`exists (select from registry_changes where next_at <= now())`;

export interface RegistryChange {
  experimentId: string;
  /** To the microsecond. This tells one change of an experiment from the next. */
  changedAt: string;
}

/** The experiment, of those that may be written now, that has waited longest for the lake to know its devices as they are now. */
export const findRegistryChange = (db: Queryable) =>
  db.one<RegistryChange>(sql('registry.findChange')`
    select experiment_id as "experimentId", changed_at::text as "changedAt" from registry_changes where next_at <= now() order by changed_at limit 1`);

/** Ends a change, unless another has come since. */
export const endRegistryChange = (tx: Transaction, { experimentId, changedAt }: RegistryChange) =>
  tx.run(sql('registry.endChange')`
    delete from registry_changes where experiment_id = ${experimentId} and changed_at = ${changedAt}::timestamptz`);

/** Leaves a change alone for so many seconds. */
export const holdRegistryChange = (db: Queryable, experimentId: string, seconds: number) =>
  db.run(sql('registry.holdChange')`
    update registry_changes set next_at = now() + make_interval(secs => ${seconds}) where experiment_id = ${experimentId}`);

/** The devices that measured for an experiment, as they are registered now. */
export const listMeasuringDevices = (db: Queryable, experimentId: string) =>
  db.rows<RegistryRow>(sql('registry.measuringDevices')`
    select m.client_id as "clientId", d.id, d.serial_number as "serialNumber", r.created_by as "ownerId",
      case d.state when 'phone' then 'active' else d.state end as status, d.device_type as "deviceType"
    from measuring_devices m join devices d on d.thing_name = m.client_id join resources r on r.id = d.id
    where m.experiment_id = ${experimentId}
    order by m.client_id`);

/**
 * Lists those of these senders that may name only their owner as the one who measured, which is nobody where the sender is not registered. In an anonymised
 * experiment these are all devices but those that somebody bound who manages it: whoever binds one and names others by it would be told their pseudonyms.
 */
export const listNamingLimits = (db: Queryable, experimentId: string, clientIds: readonly string[]) =>
  db.rows<{ clientId: string; ownerId: string | null }>(sql('registry.namingLimits')`
    select c.client_id as "clientId", r.created_by as "ownerId"
    from experiments e cross join unnest(${clientIds}::text[]) c (client_id)
    left join devices d on d.thing_name = c.client_id left join resources r on r.id = d.id
    where e.id = ${experimentId} and e.anonymize_contributors and not exists (
      select from experiment_devices b join effective_access a on a.user_id = b.added_by and a.resource_id = b.experiment_id and a.can_manage
      where b.experiment_id = e.id and b.device_id = d.id)`);
