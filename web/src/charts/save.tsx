import { useMutation } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient } from '../api.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { InputField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { isOutdated, useTold } from '../ui/forms.ts';
import { findLastError } from '../ui/last-error.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { changeChart, makeChart, removeChart, savedQuery, type ChartListed, type NewChart } from './queries.ts';
import { searchOf, type ChartSearch } from './search.ts';

const said = words.charts;

interface SaveProps {
  id: string;
  chart: NewChart;
  /** The name that a new chart is offered. */
  usual: string;
  /** The stored chart that is shown; undefined for one that is not stored. */
  saved: string | undefined;
  stored: { chart: ChartListed; tag: string } | undefined;
  error: unknown;
  /** Shows a stored chart, or this one as a stored one. */
  show: (stored: Partial<ChartSearch>) => void;
}

/** Stores a chart, changes the stored one, or deletes it. */
export function SavePanel({ id, chart, usual, saved, stored, error, show }: SaveProps) {
  const [typed, setTyped] = useState<string>();
  const [base, setBase] = useState({ id: saved, tag: stored?.tag });
  // what is drawn is of the address, and stays as it is when somebody else saves
  if (stored !== undefined && (base.id !== saved || base.tag === undefined)) setBase({ id: saved, tag: stored.tag });
  const navigate = useNavigate();
  const router = useRouter();
  const named = { ...chart, name: (typed ?? stored?.chart.name ?? usual).slice(0, 255) };
  const make = useMutation({
    mutationFn: async () => makeChart(id, named),
    onSuccess: (made) => {
      sayDone(said.saved);
      show({ saved: made });
    },
  });
  const update = useMutation({
    mutationFn: async ({ visualizationId, tag }: { visualizationId: string; tag: string }) => changeChart(id, visualizationId, tag, named),
    onSuccess: (tag) => {
      setBase({ id: saved, tag });
      sayDone(said.saved);
    },
    // whoever decides writes over nothing newer than what is stored now
    onError: (refusal, { visualizationId }) =>
      isOutdated(refusal) ? queryClient.invalidateQueries(savedQuery(id, visualizationId)) : undefined,
  });
  const remove = async ({ visualizationId, tag }: { visualizationId: string; tag: string }) => {
    await removeChart(id, visualizationId, tag);
    sayDone(said.removed);
    await navigate({ to: '/experiments/$id/charts', params: { id } });
  };
  const isBusy = make.isPending || update.isPending;
  const target = saved === undefined || stored === undefined ? null : { visualizationId: saved, tag: stored.tag };
  const told = useTold(update, stored?.tag ?? '');
  const send = (tag?: string) => {
    if (target === null) make.mutate();
    else update.mutate({ ...target, tag: tag ?? base.tag ?? target.tag });
  };
  const theirs = stored && searchOf(stored.chart);
  const decide = (isMine: boolean) => {
    if (isMine) return send(told?.tag);
    update.reset();
    setTyped(undefined);
    setBase({ id: saved, tag: stored?.tag });
    show(theirs ?? {});
  };
  return (
    <section className="panel" aria-labelledby="save-title">
      <h3 id="save-title">{said.saveTitle}</h3>
      <Form className="inline" send={() => send()}>
        <InputField
          id="chart-name"
          label={said.name}
          required
          maxLength={255}
          value={named.name}
          onChange={(event) => setTyped(event.target.value)}
        />
        <SendButton type="submit" className="button primary" isSending={isBusy}>
          {target === null ? said.save : said.change}
        </SendButton>
      </Form>
      {/* on a line of its own, so that a double click on what saves meets nothing else */}
      {target === null ? null : (
        <div className="inline">
          <SendButton isSending={isBusy} onClick={() => make.mutate()}>
            {said.another_}
          </SendButton>
          <AskFirst action={said.remove} consequence={said.removeText} perform={() => remove(target)} />
        </div>
      )}
      {told === undefined ? (
        <Problem error={findLastError(make, update) ?? error} />
      ) : (
        <Conflict
          sentence={words.conflict.settings}
          told={told}
          isSending={isBusy}
          decide={decide}
          see={router.buildLocation({ to: '.', search: theirs }).href}
          error={findLastError(make, update)}
        />
      )}
    </section>
  );
}
