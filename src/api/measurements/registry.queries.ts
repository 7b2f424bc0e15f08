import type { Queryable, Transaction } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { RegistryRow } from '../../ingest/dimensions.ts';

/** Locks the oldest experiment whose devices the lake does not know as they are now. */
export const claimRegistryChange = (tx: Transaction) =>
  tx.one<{ experimentId: string }>(sql('registry.claimChange')`
    select experiment_id as "experimentId" from registry_changes order by changed_at limit 1 for update skip locked`);

export const endRegistryChange = (tx: Transaction, experimentId: string) =>
  tx.run(sql('registry.endChange')`delete from registry_changes where experiment_id = ${experimentId}`);

/** The devices that measured for an experiment, as they are registered now. */
export const listMeasuringDevices = (db: Queryable, experimentId: string) =>
  db.rows<RegistryRow>(sql('registry.measuringDevices')`
    select m.client_id as "clientId", d.id, d.serial_number as "serialNumber", r.created_by as "ownerId",
      case d.state when 'phone' then 'active' else d.state end as status, d.device_type as "deviceType"
    from measuring_devices m join devices d on d.thing_name = m.client_id join resources r on r.id = d.id
    where m.experiment_id = ${experimentId}
    order by m.client_id`);
