-- Up Migration
-- Who wants the newsletter. Only a proven address is subscribed: by the link of a letter, or because its account proved it.

create table newsletter_subscribers (
  email text primary key check (email = canonical_email(email) and length(email) between 3 and 320),
  status text not null default 'pending' check (status in ('pending', 'subscribed', 'unsubscribed')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A closed account leaves nothing of the person behind, here either.
create function forget_newsletter_address() returns trigger language plpgsql as $$
begin
  delete from newsletter_subscribers where email = old.email;
  return new;
end $$;
create trigger users_forget_newsletter after update of deleted_at on users
  for each row when (new.deleted_at is not null and old.deleted_at is null and old.email is not null) execute function forget_newsletter_address();
