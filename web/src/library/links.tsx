import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { ChoiceField, type Named } from '../ui/choice.tsx';
import { Form } from '../ui/form.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import type { Asked } from './head.tsx';
import { PAGES } from './kinds.ts';
import { choicesQuery } from './queries.ts';

const said = words.library.links;

interface Linked {
  id: string;
  name: string;
  /** Family or language, as words. */
  trait: string;
}

interface LinksProps {
  kind: 'protocols' | 'macros';
  asked: Asked<readonly Linked[]>;
  mayWrite: boolean;
  link: (id: string) => Promise<void>;
  unlink: (id: string) => Promise<void>;
}

function LinkForm({ kind, links, link }: Pick<LinksProps, 'kind' | 'link'> & { links: readonly Linked[] }) {
  const [chosen, setChosen] = useState<Named>();
  const linked = new Set(links.map(({ id }) => id));
  const { mutate, isPending, error } = useMutation({
    mutationFn: link,
    onSuccess: () => {
      setChosen(undefined);
      sayDone(said.linked);
    },
  });
  return (
    <Form className="inline" send={() => chosen && mutate(chosen.id)}>
      <ChoiceField
        id="link-one"
        label={said[kind].add}
        ask={(find) => choicesQuery(kind, find)}
        none={said.choose}
        without={linked}
        required
        chosen={chosen}
        choose={setChosen}
      />
      <SendButton type="submit" isSending={isPending}>
        {said.link}
      </SendButton>
      <Problem error={error} />
    </Form>
  );
}

/** Links between protocols and the macros that read their measurements, seen from either side. */
export function LinksPanel({ kind, asked: { data: links, error, refetch }, mayWrite, link, unlink }: LinksProps) {
  const remove = useMutation({ mutationFn: unlink, onSuccess: () => sayDone(said.unlinked) });
  return (
    <section className="panel" aria-labelledby="links">
      <h2 id="links">{said[kind].title}</h2>
      <p className="small quiet">{said[kind].lead}</p>
      <Problem error={error} retry={() => void refetch()} />
      {links?.length === 0 ? <p className="quiet">{said.none}</p> : null}
      <ul className="rows">
        {links?.map(({ id, name, trait }) => (
          <li key={id}>
            <div>
              <h3 className="library-name">
                <Link to={PAGES[kind]} params={{ protocol: id, macro: id }}>
                  {name}
                </Link>
              </h3>
              <p className="small quiet">{trait}</p>
            </div>
            {mayWrite ? (
              <SendButton aria-label={said.unlinkLabel(name)} isSending={remove.isPending} onClick={() => remove.mutate(id)}>
                {said.unlink}
              </SendButton>
            ) : null}
          </li>
        ))}
      </ul>
      <Problem error={remove.error} />
      {mayWrite ? <LinkForm kind={kind} links={links ?? []} link={link} /> : null}
    </section>
  );
}
