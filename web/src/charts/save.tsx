import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { InputField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { findLastError } from '../ui/last-error.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { changeChart, makeChart, removeChart, type NewChart } from './queries.ts';

const said = words.charts;

interface SaveProps {
  id: string;
  chart: NewChart;
  /** The name that a new chart is offered. */
  usual: string;
  /** The stored chart that is shown; undefined for one that is not stored. */
  saved: string | undefined;
  stored: { name: string; tag: string } | undefined;
  error: unknown;
  /** Shows the stored chart instead of the one that was not stored. */
  show: (saved: string) => void;
}

/** Stores a chart, changes the stored one, or deletes it. */
export function SavePanel({ id, chart, usual, saved, stored, error, show }: SaveProps) {
  const [typed, setTyped] = useState<string>();
  const navigate = useNavigate();
  const named = { ...chart, name: (typed ?? stored?.name ?? usual).slice(0, 255) };
  const make = useMutation({
    mutationFn: async () => makeChart(id, named),
    onSuccess: (made) => {
      sayDone(said.saved);
      show(made);
    },
  });
  const update = useMutation({
    mutationFn: async ({ visualizationId, tag }: { visualizationId: string; tag: string }) => changeChart(id, visualizationId, tag, named),
    onSuccess: () => sayDone(said.saved),
  });
  const remove = async ({ visualizationId, tag }: { visualizationId: string; tag: string }) => {
    await removeChart(id, visualizationId, tag);
    sayDone(said.removed);
    await navigate({ to: '/experiments/$id/charts', params: { id } });
  };
  const isBusy = make.isPending || update.isPending;
  const target = saved === undefined || stored === undefined ? null : { visualizationId: saved, tag: stored.tag };
  const submit = () => {
    if (target === null) make.mutate();
    else update.mutate(target);
  };
  return (
    <section className="panel" aria-labelledby="save-title">
      <h3 id="save-title">{said.saveTitle}</h3>
      <Form className="inline" send={submit}>
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
      <Problem error={findLastError(make, update) ?? error} />
    </section>
  );
}
