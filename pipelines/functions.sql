-- grain: none; functions that the steps below share
-- key: none
-- from: nothing

-- Sign, significant digits and exponent of decimal or exponent numbers: two spellings of one value have one key. Takes a list, so that
-- the engine plans the key once for both numbers that are compared.
create macro digits_of(v) as ltrim(replace(regexp_extract(v, '^-?([0-9.]+)', 1), '.', ''), '0');
create macro power_of(v) as case when contains(lower(v), 'e') then try_cast(regexp_extract(v, '[eE]\+?(-?[0-9]+)$', 1) as bigint) else 0 end;
create macro number_keys(vs) as list_transform(vs, lambda v: list_transform([digits_of(v)], lambda d: case when rtrim(d, '0') = '' then '0' else
  (case when starts_with(v, '-') then '-' else '' end) || rtrim(d, '0') || 'e'
    || (power_of(v) - length(regexp_extract(v, '\.([0-9]+)', 1)) + length(d) - length(rtrim(d, '0'))) end)[1]);

create macro is_number(v) as regexp_full_match(v, '-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?');
create macro is_plain(v) as regexp_full_match(v, '-?(0|[1-9][0-9]*)(\.[0-9]+)?');

-- 15 significant digits always survive a DOUBLE, and more than the 17 that it prints never; between them the value is compared with what the DOUBLE prints.
create macro survives_double(v) as case
  when length(v) <= 16 and not contains(lower(v), 'e') then true
  when try_cast(v as double)::varchar = v then true
  when length(rtrim(digits_of(v), '0')) > 17 then false
  else coalesce(isfinite(try_cast(v as double)) and len(list_distinct(number_keys([v, try_cast(v as double)::varchar]))) = 1, false) end;

create macro looks_like_instant(v) as
  regexp_full_match(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[-+][0-9]{2}(:?[0-9]{2})?)');
-- The engine reads an offset only behind seconds.
create macro instant_text(v) as regexp_replace(v, '^(.{11}[0-9]{2}:[0-9]{2})(Z|[-+][0-9:]+)$', '\1:00\2');
create macro is_instant(v) as looks_like_instant(v) and try_cast(instant_text(v) as timestamptz) is not null;
create macro looks_like_local_time(v) as
  regexp_full_match(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?');
create macro is_local_time(v) as looks_like_local_time(v) and try_cast(v as timestamp) is not null;

-- What a number is: a class of src/ingest/value-classes.ts, whose number stands here when it is run; null where it is no number, or one that nothing holds.
create macro number_class(v) as case
  when try_cast(v as bigint)::varchar = v then
    case when try_cast(v as integer) is not null then {{int}} when abs(try_cast(v as hugeint)) <= 9007199254740992 then {{long}} else {{bigint}} end
  when is_number(v) then case when survives_double(v) then {{double}} when is_plain(v) and length(v) <= 40 then {{decimal}} end end;

-- What a text is that is no number.
create macro calendar_class(v) as case
  when length(v) = 10 and try_cast(v as date)::varchar = v then {{date}}
  when length(v) < 16 or not regexp_full_match(substr(v, 1, 8), '[0-9]{4}-[0-9]{2}-') then {{text}}
  when is_instant(v) then {{instant}}
  when is_local_time(v) then {{localTime}}
  else {{text}} end;

-- What one text value is.
create macro text_class(v) as case when v is null then 0 when v = '' then {{empty}} else coalesce(number_class(v), calendar_class(v)) end;

-- Digits before and after the point of a plain number; an exponent number answers 99, which no DECIMAL holds.
create macro whole_digits(v) as case when is_plain(v) then length(ltrim(split_part(v, '.', 1), '-')) when is_number(v) then 99 else 0 end;
create macro part_digits(v) as case when is_plain(v) then length(rtrim(split_part(v, '.', 2), '0')) else 0 end;
-- A plain number times ten to the power of `places`, of which no other digits stand behind its point.
create macro shifted(v, places) as split_part(v, '.', 1) || rpad(rtrim(split_part(v, '.', 2), '0'), places, '0');

-- A JSON value as `src/ingest` hands it over: a letter for its kind (n s b j), then its text. JSON strings are text, dates or times, never numbers.
create macro token_class(v) as case
  when v is null then 0
  when starts_with(v, 'n') then coalesce(number_class(substr(v, 2)), {{text}})
  when starts_with(v, 'b') then {{boolean}}
  when starts_with(v, 'j') then {{nested}}
  when v = 's' then {{empty}}
  else calendar_class(substr(v, 2)) end;

-- The same for a column in which a string that is only text has been seen: its other strings need no closer look.
create macro loose_token_class(v) as case
  when v is null then 0
  when v = 's' then {{empty}}
  when starts_with(v, 's') then {{text}}
  else token_class(v) end;

-- A document that was sent, without commas behind a last element or member: the engine takes them for valid, and no JSON has them.
create macro trimmed_json(v) as case when json_valid(v) and regexp_matches(v::varchar, ',\s*[\]}]')
  then regexp_replace(v::varchar, '("(?:[^"\\]|\\.)*")|,(\s*[\]}])', '\1\2', 'g')::json
  else v end;

-- A document of the engine's JSON with null for NaN and infinities, which no JSON has. A byte that no JSON holds is put behind every text and in the place of
-- every such number, and tells the two apart.
create macro finite_json(v) as case when contains(v::varchar, 'NaN') or contains(v::varchar, 'Infinity')
  then replace(replace(regexp_replace(v::varchar, '("(?:[^"\\]|\\.)*")|-?(?:NaN|Infinity)', '\1' || chr(1), 'g'), '"' || chr(1), '"'), chr(1), 'null')::json
  else v end;

-- A document of the engine's JSON with a zero before every point that has no digit there, as decimals of no whole digits are printed.
create macro pointed_json(v) as replace(replace(regexp_replace(v::varchar, '("(?:[^"\\]|\\.)*")|([-\[:,])\.', '\1\2' || chr(1), 'g'), '"' || chr(1), '"'), chr(1), '0.')::json;

-- A document of the engine's JSON with its times as ISO 8601 writes them, those with a zone in UTC.
create macro timed_json(v) as regexp_replace(regexp_replace(v::varchar,
  '"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00"', '"\1T\2Z"', 'g'),
  '"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)"', '"\1T\2"', 'g')::json;
