import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { Problem } from '../shell/problem.tsx';
import { copyText } from '../ui/clipboard.ts';
import { words } from '../words.ts';
import { planQuery, type TableShown } from './queries.ts';
import { questionOf } from './question.ts';
import { SNIPPETS, type SnippetName } from './snippets.ts';

const said = words.table.same;
const NAMES = Object.keys(SNIPPETS) as SnippetName[];

function Plan({ shown }: { shown: TableShown }) {
  const { data, error, isPending } = useQuery(planQuery(shown));
  if (isPending) return <pre tabIndex={0}>{words.waiting}</pre>;
  if (error) return <Problem error={error} />;
  return <pre tabIndex={0}>{data.statement}</pre>;
}

/** What the grid shows, as a program would ask for it, ready to be copied. */
export function SameQuestion({ shown }: { shown: TableShown }) {
  const [tab, setTab] = useState<SnippetName | 'sql'>('url');
  const { asOf, ...asked } = questionOf(shown.table, shown.search);
  const question = {
    address: `${location.origin}/api/v1/experiments/${shown.experimentId}/data`,
    parameters: { ...asked, ...(asOf === undefined ? {} : { asOf }) } as Record<string, string | number>,
  };
  const text = tab === 'sql' ? null : SNIPPETS[tab](question);
  return (
    <details className="same">
      <summary id="same-title">{said.title}</summary>
      <Tabs className="same-box" selectedKey={tab} onSelectionChange={(key) => setTab(key as typeof tab)}>
        <div className="same-bar">
          <TabList className="same-tabs" aria-labelledby="same-title">
            {[...NAMES, 'sql' as const].map((name) => (
              <Tab key={name} id={name} className="same-tab">
                {said[name]}
              </Tab>
            ))}
          </TabList>
          {text === null ? null : (
            <button type="button" className="button bare same-copy" onClick={() => void copyText(text, said.copied)}>
              {said.copy}
            </button>
          )}
        </div>
        {NAMES.map((name) => (
          <TabPanel key={name} id={name}>
            <pre tabIndex={0}>{SNIPPETS[name](question)}</pre>
          </TabPanel>
        ))}
        <TabPanel id="sql">
          <Plan shown={shown} />
        </TabPanel>
      </Tabs>
    </details>
  );
}
