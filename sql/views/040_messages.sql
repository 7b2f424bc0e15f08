-- Every message of the inbox with what became of it so far. What is pending has been stored by no one yet, or is to be stored again.
create or replace view messages as
select m.id, m.ordinal, m.experiment_id, m.source, m.client_id, m.user_id, m.protocol_id, m.arrived_at, m.byte_count, m.body, m.object_key,
  case when p.ordinal is null then m.status else 'pending' end as status,
  case when p.ordinal is null or p.again then m.stored else 0 end as stored,
  m.quarantined, m.already_there, m.reasons, (select count(*)::integer from message_tries t where t.experiment_id = p.experiment_id and p.ordinal between t.first_ordinal and t.last_ordinal) as tries, m.handled_at
from inbox m left join pending_messages p on p.experiment_id = m.experiment_id and p.ordinal = m.ordinal;
