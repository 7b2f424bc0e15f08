-- Up Migration
-- What became of certificates that the embedded registry holds no more, so that a refusal can say it.
create table ended_certificates (
  certificate_id text primary key,
  reason text not null check (reason in ('rotated', 'revoked', 'removed')),
  ended_at timestamptz not null default now()
);
