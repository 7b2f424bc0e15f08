-- grain: none; functions for the text of delimited files, which people and their programs write in many ways (src/ingest/typing/readings.ts)
-- key: none
-- from: nothing

create macro bare(v) as trim(v, ' ' || chr(9) || chr(160));
-- Perhaps what `bare` takes off stands around it: said of 300,000 values in 6 ms, where `bare` takes 40.
create macro is_padded(v) as v < '!' or starts_with(v, chr(160)) or ends_with(v, ' ') or ends_with(v, chr(9)) or ends_with(v, chr(160));
-- A minus of U+2212 before a number, which `text_class` does not know. A number with a plus stays text: it may be a code.
create macro signed(b) as case
  when regexp_full_match(b, '−((0|[1-9][0-9]*)([.,][0-9]*)?|[.,][0-9]+)([eE][-+]?[0-9]+)?') then '-' || b[2:] else b end;
-- A number that is a mark is one however it is spelled: `-999.0` beside `-999`.
create macro is_mark(b) as list_contains(getvariable('missing_marks'), b) or (getvariable('missing_numbers') is not null
  and is_number(replace(signed(b), ',', '.')) and coalesce(list_contains(getvariable('missing_numbers'), number_keys([replace(signed(b), ',', '.')])[1]), false));
create macro is_missing(v) as case
  when list_contains(getvariable('missing_marks'), v) then true
  when is_padded(v) or getvariable('missing_numbers') is not null then coalesce(is_mark(bare(v)), false)
  else false end;
-- Says nothing where a value is expected: a mark, blanks or empty text.
create macro is_unsaid(v) as v is null or bare(v) = '' or is_missing(v);
-- Commas between thousands that cannot be decimal ones: a point stands behind them, or there are two.
create macro is_grouped(b) as regexp_full_match(b, '-?[1-9][0-9]{0,2}((,[0-9]{3})+\.[0-9]+|(,[0-9]{3}){2,})');
-- A time to the nanosecond; one that ends in zeros is a time in microseconds.
create macro is_fine_time(b) as length(b) between 27 and 35 and regexp_full_match(b, '[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{7,9}(Z|[-+][0-9]{2}:?[0-9]{2})?');
create macro coarse(b) as case when is_fine_time(b) then regexp_replace(b, '(\.[0-9]{6})0+', '\1') else b end;
-- `.5`, `5.`, `1,234.5` and times with too many zeros as the engine writes them.
create macro unsigned_pointed(b) as case
  when is_grouped(b) then replace(b, ',', '')
  when regexp_full_match(b, '-?([0-9]+\.|\.[0-9]+)') then rtrim(regexp_replace(b, '^(-?)\.', '\10.'), '.')
  when contains(b, ':') then coarse(b) else b end;
create macro pointed(b) as unsigned_pointed(signed(b));
create macro is_comma_number(b) as regexp_full_match(b, '-?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+),[0-9]+([eE][-+]?[0-9]+)?');
-- `1.000` and `1.234.567`: a thousand and more where the comma is the decimal mark.
create macro is_point_grouped(b) as substring(b, -4, 1) = '.' and regexp_full_match(b, '-?[1-9][0-9]{0,2}(\.[0-9]{3})+');
-- With any other point a value is no number, and no number may be made of it.
create macro signed_comma_pointed(b) as case
  when is_comma_number(b) then replace(replace(b, '.', ''), ',', '.')
  when is_point_grouped(b) then replace(b, '.', '')
  when contains(b, '.') then 'a point ' || b else b end;
create macro comma_pointed(b) as signed_comma_pointed(signed(b));

-- A day as people write it, perhaps with a time behind. A year of two digits stands behind slashes or dots.
create macro is_day_like(b) as regexp_full_match(b, '([0-9]{4}([-/.])[0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}/[0-9]{1,2}/([0-9]{4}|[0-9]{2})|[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}|[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{2}|[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}|[0-9]{1,2}[- ][A-Za-z]{3,9}[.]?[- ]([0-9]{4}|[0-9]{2})|[A-Za-z]{3,9}[.]? [0-9]{1,2},? [0-9]{4})((,? |T)[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,6})?)?( ?[AaPp][.]?[Mm][.]?)?)?');
-- A version is written like this, too.
create macro is_short_day(b) as regexp_matches(b, '^([0-9][.][0-9]{1,2}|[0-9]{2}[.][0-9])[.][0-9]{2}([^0-9]|$)');
-- The same with hyphens and one blank, as the formats below have it.
create macro plain_time(b) as case when contains(b, ':')
  then replace(regexp_replace(regexp_replace(b, '(,? |T)([0-9]+:)', ' \2'), ' ?([AaPp])[.]?[Mm][.]?$', ' \1M'), ',', '.') else b end;
create macro plain_day(b) as case when is_day_like(b) then plain_time(regexp_replace(b, '^([0-9]+)[-/. ]([0-9A-Za-z]+)[.]?[-/. ]', '\1-\2-')) end;
create macro ymd_moment(b) as case when regexp_matches(b, '^[0-9]{4}') then try_strptime(plain_day(b), ['%Y-%m-%d', '%Y-%m-%d %H:%M', '%Y-%m-%d %H:%M:%S', '%Y-%m-%d %H:%M:%S.%f', '%Y-%m-%d %I:%M %p', '%Y-%m-%d %I:%M:%S %p']) end;
create macro dmy_moment(b) as case when not regexp_matches(b, '^[0-9]{4}') then try_strptime(plain_day(b), ['%d-%m-%y', '%d-%m-%Y', '%d-%m-%y %H:%M', '%d-%m-%Y %H:%M', '%d-%m-%y %H:%M:%S', '%d-%m-%Y %H:%M:%S', '%d-%m-%y %H:%M:%S.%f', '%d-%m-%Y %H:%M:%S.%f', '%d-%m-%y %I:%M %p', '%d-%m-%Y %I:%M %p', '%d-%m-%y %I:%M:%S %p', '%d-%m-%Y %I:%M:%S %p']) end;
-- Nobody puts dots behind a month that comes first.
create macro mdy_moment(b) as case when not regexp_matches(b, '^[0-9]([0-9]{3}|[0-9]?[.])') then try_strptime(plain_day(b), ['%m-%d-%y', '%m-%d-%Y', '%m-%d-%y %H:%M', '%m-%d-%Y %H:%M', '%m-%d-%y %H:%M:%S', '%m-%d-%Y %H:%M:%S', '%m-%d-%y %H:%M:%S.%f', '%m-%d-%Y %H:%M:%S.%f', '%m-%d-%y %I:%M %p', '%m-%d-%Y %I:%M %p', '%m-%d-%y %I:%M:%S %p', '%m-%d-%Y %I:%M:%S %p']) end;
create macro named_moment(b) as case when regexp_matches(b, '[A-Za-z]{3}') then
  try_strptime(replace(plain_day(b), '.', ''), ['%d-%b-%y', '%d-%b-%Y', '%d-%B-%y', '%d-%B-%Y', '%b %d, %Y', '%B %d, %Y', '%b %d %Y', '%B %d %Y', '%d-%b-%y %H:%M', '%d-%b-%Y %H:%M', '%d-%B-%y %H:%M', '%d-%B-%Y %H:%M', '%b %d, %Y %H:%M', '%B %d, %Y %H:%M', '%b %d %Y %H:%M', '%B %d %Y %H:%M', '%d-%b-%y %H:%M:%S', '%d-%b-%Y %H:%M:%S', '%d-%B-%y %H:%M:%S', '%d-%B-%Y %H:%M:%S', '%b %d, %Y %H:%M:%S', '%B %d, %Y %H:%M:%S', '%b %d %Y %H:%M:%S', '%B %d %Y %H:%M:%S', '%d-%b-%y %H:%M:%S.%f', '%d-%b-%Y %H:%M:%S.%f', '%d-%B-%y %H:%M:%S.%f', '%d-%B-%Y %H:%M:%S.%f', '%b %d, %Y %H:%M:%S.%f', '%B %d, %Y %H:%M:%S.%f', '%b %d %Y %H:%M:%S.%f', '%B %d %Y %H:%M:%S.%f', '%d-%b-%y %I:%M %p', '%d-%b-%Y %I:%M %p', '%d-%B-%y %I:%M %p', '%d-%B-%Y %I:%M %p', '%b %d, %Y %I:%M %p', '%B %d, %Y %I:%M %p', '%b %d %Y %I:%M %p', '%B %d %Y %I:%M %p', '%d-%b-%y %I:%M:%S %p', '%d-%b-%Y %I:%M:%S %p', '%d-%B-%y %I:%M:%S %p', '%d-%B-%Y %I:%M:%S %p', '%b %d, %Y %I:%M:%S %p', '%B %d, %Y %I:%M:%S %p', '%b %d %Y %I:%M:%S %p', '%B %d %Y %I:%M:%S %p']) end;

-- DAY_CLASSES of src/ingest/value-classes.ts: in which orders a value is a day.
create macro day_kind(y, d, m, n, b) as
  case when y is null and d is null and m is null and n is null then {{text}} else
    case when y is null then 0 else {{ymd}} end | case when d is null then 0 when is_short_day(b) then {{shortDmy}} else {{dmy}} end | case when m is null then 0 else {{mdy}} end
    | case when d = m then {{same}} else 0 end | case when n is null then 0 else {{named}} end | case when contains(b, ':') then {{timed}} else 0 end end;
-- SENT_CLASSES there, of text that is no plain number, day or time.
create macro loose_kind(b) as case
  when length(b) > 40 then {{text}}
  when lower(b) in ('true', 'false', 'yes', 'no') then {{boolean}}
  when is_comma_number(signed(b)) then {{comma}}
  when is_fine_time(b) then case when is_instant(coarse(b)) then {{untidy|instant}} when is_local_time(coarse(b)) then {{untidy|localTime}} else {{finer}} end
  when pointed(b) <> b then {{untidy|double}} | case when is_point_grouped(signed(b)) then {{grouped}} else 0 end
  when is_point_grouped(b) then {{grouped}}
  when regexp_full_match(b, '-?0[0-9]+') then {{code}}
  when is_day_like(b) then {{dayLike}}
  else {{text}} end;
create macro sent_kind(sent, b, class) as case
  when sent is null then null
  when is_mark(b) then {{missing}}
  when b = '' then case when sent = '' then {{empty}} else {{untidy|empty}} end
  else case when b = sent then 0 else {{untidy}} end | case
    when class = {{text}} then loose_kind(b)
    when class in ({{double}}, {{decimal}}) and is_point_grouped(b) then class | {{grouped}}
    else class end end;
