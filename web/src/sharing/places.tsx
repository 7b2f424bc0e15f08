import { keepPreviousData, useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { experimentQuery } from '../experiments/queries.ts';
import { listNames } from '../isolated.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField } from '../ui/field.tsx';
import { findLastError } from '../ui/last-error.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { placesQuery, type PlaceFound } from './queries.ts';
import { addPlace, keepPlaces } from './writes.ts';

const said = words.sharing.places;
const FEWEST_LETTERS = 2;

/** Places that were found by name, each with a button that adds it. */
function Found({ places, isBusy, add }: { places: readonly PlaceFound[]; isBusy: boolean; add: (place: PlaceFound) => void }) {
  return (
    <ul className="rows tight" aria-label={said.found}>
      {places.map((place) => (
        <li key={`${place.label} ${place.latitude} ${place.longitude}`}>
          <p>{place.label}</p>
          <SendButton aria-label={said.addLabel(place.label)} isSending={isBusy} onClick={() => add(place)}>
            {said.add}
          </SendButton>
        </li>
      ))}
    </ul>
  );
}

/** Where an experiment is: places that are there, and others to be found by name. */
export function PlacesPanel({ id }: { id: string }) {
  const places = useSuspenseQuery(experimentQuery(id)).data.experiment.locations ?? [];
  const [typed, setTyped] = useState('');
  const name = useDeferredValue(typed.trim());
  const isAsked = name.length >= FEWEST_LETTERS;
  const found = useQuery({ ...placesQuery(name), enabled: isAsked, placeholderData: keepPreviousData });
  const add = useMutation({
    mutationFn: (place: PlaceFound) => addPlace(id, place),
    onSuccess: () => sayDone(said.added),
  });
  // what was written meanwhile stays
  const empty = { onSuccess: () => setTyped((now) => (now === typed ? '' : now)) };
  const remove = useMutation({
    mutationFn: (place: string) =>
      keepPlaces(
        id,
        places.filter((each) => each.id !== place),
      ),
    onSuccess: () => sayDone(said.removed),
  });
  return (
    <section className="panel" aria-labelledby="places">
      <h2 id="places">{said.title}</h2>
      {places.length === 0 ? <p className="quiet">{said.none}</p> : null}
      <ul className="rows tight">
        {places.map((place) => (
          <li key={place.id}>
            <div>
              <p>{place.name}</p>
              <p className="small quiet">{listNames([place.municipality, place.country].filter((part) => part !== undefined))}</p>
            </div>
            <SendButton aria-label={said.removeLabel(place.name)} isSending={remove.isPending} onClick={() => remove.mutate(place.id)}>
              {said.remove}
            </SendButton>
          </li>
        ))}
      </ul>
      <InputField
        id="place-name"
        label={said.search}
        type="search"
        maxLength={200}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {isAsked && found.data !== undefined ? (
        found.data.length === 0 ? (
          <p className="quiet">{said.foundNone}</p>
        ) : (
          <Found places={found.data} isBusy={add.isPending} add={(place) => add.mutate(place, empty)} />
        )
      ) : null}
      <Problem error={found.error ?? findLastError(add, remove)} />
    </section>
  );
}
