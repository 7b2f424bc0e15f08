-- how far an export is: while its rows are put in order nothing is written yet
alter table exports add column percent_done double precision not null default 0 check (percent_done between 0 and 100);
