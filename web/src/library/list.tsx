import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { agoText } from '../shell/format.ts';
import { NotFoundPage } from '../shell/shell.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { NotYet } from '../ui/not-yet.tsx';
import { Options } from '../ui/options.tsx';
import { Pages } from '../ui/pages.tsx';
import { useTyped } from '../ui/typed.ts';
import { words } from '../words.ts';
import { isKind, KINDS, MACRO_LANGUAGES, PAGES, type Family, type Kind, type MacroLanguage } from './kinds.ts';
import { MakeTool } from './make.tsx';
import { libraryQuery, PAGE_SIZE, type Listed } from './queries.ts';
import '../home/home.css';
import './library.css';

const route = getRouteApi('/guarded/library/$kind');
const said = words.library;

/** What only this kind has, in words: language, family, or number of cells. */
function traitText(kind: Kind, trait: string): string {
  if (kind === 'macros') return said.languages[trait as MacroLanguage];
  return kind === 'protocols' ? said.families[trait as Family] : said.cells(Number(trait));
}

function Row({ kind, item }: { kind: Kind; item: Listed }) {
  const { id, name, description, visibility, organizationName, createdByName, updatedAt, trait } = item;
  return (
    <li className="experiment-row">
      <div>
        <h2>
          <Link to={PAGES[kind]} params={{ macro: id, protocol: id, workbook: id }}>
            {name}
          </Link>
        </h2>
        {description === null || description === '' ? null : <p className="quiet library-text">{description}</p>}
      </div>
      <p className="small quiet facts">
        <span className="tag">{traitText(kind, trait)}</span>
        <span>{organizationName ?? words.home.personal}</span>
        <span>{said.facts(createdByName, agoText(updatedAt))}</span>
        {visibility === 'public' ? <span className="tag good">{words.experiment.visibility.public}</span> : null}
      </p>
    </li>
  );
}

function FindForm({ kind }: { kind: Kind }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [find, typeFind] = useTyped(search.find ?? '');
  const [language, chooseLanguage] = useTyped(search.language ?? '');
  const submit = () => {
    void navigate({
      search: {
        ...search,
        page: undefined,
        find: find.trim() === '' ? undefined : find.trim(),
        language: MACRO_LANGUAGES.find((each) => each === language),
      },
    });
  };
  return (
    <Form className="inline library-find" role="search" aria-label={said.find[kind]} send={submit}>
      <InputField
        id="library-find"
        label={said.find[kind]}
        type="search"
        maxLength={200}
        value={find}
        onChange={({ target }) => typeFind(target.value)}
      />
      {kind === 'macros' ? (
        <SelectField id="library-language" label={said.language} value={language} onChange={({ target }) => chooseLanguage(target.value)}>
          <option value="">{said.anyLanguage}</option>
          <Options texts={MACRO_LANGUAGES.map((each) => [each, said.languages[each]])} />
        </SelectField>
      ) : null}
      <button type="submit" className="button">
        {said.findButton}
      </button>
    </Form>
  );
}

/** Macros, protocols or workbooks. */
export function LibraryPage() {
  const { kind } = route.useParams();
  const search = route.useSearch();
  if (!isKind(kind)) return <NotFoundPage />;
  const scope = search.scope ?? 'related';
  return (
    <div className="page">
      <title>{`${said.kinds[kind]} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{said.title}</h1>
        <nav className="choices" aria-label={said.kindLabel}>
          {KINDS.map((each) => (
            <Link
              key={each}
              to="/library/$kind"
              params={{ kind: each }}
              search={{ scope: search.scope }}
              aria-current={each === kind ? 'page' : undefined}
              className="choice"
            >
              {said.kinds[each]}
            </Link>
          ))}
        </nav>
        <p className="quiet">{said.leads[kind]}</p>
        <div className="library-tools">
          <FindForm key={kind} kind={kind} />
          <MakeTool key={kind} kind={kind} />
        </div>
        <nav className="choices" aria-label={said.scopeLabel}>
          {(['related', 'all'] as const).map((each) => (
            <Link
              key={each}
              to="/library/$kind"
              params={{ kind }}
              search={{ ...search, scope: each, page: undefined }}
              aria-current={each === scope ? 'true' : undefined}
              className="choice"
            >
              {said.scopes[each]}
            </Link>
          ))}
        </nav>
      </header>
      <List kind={kind} />
    </div>
  );
}

function List({ kind }: { kind: Kind }) {
  const search = route.useSearch();
  const { data, error, refetch } = useQuery(libraryQuery(kind, search));
  if (data === undefined) return <NotYet error={error} refetch={refetch} />;
  return (
    <div className="stack">
      <p className="small quiet" role="status">
        {said.found(data.total)}
      </p>
      {data.total === 0 ? (
        <div className="panel empty">
          <h2>{search.find === undefined ? said.none[kind] : said.noneFound(search.find)}</h2>
          <p>{search.find === undefined ? said.noneText : said.noneFoundText}</p>
        </div>
      ) : data.items.length === 0 ? null : (
        <ul className="panel experiments">
          {data.items.map((item) => (
            <Row key={item.id} kind={kind} item={item} />
          ))}
        </ul>
      )}
      <Pages
        page={search.page ?? 1}
        pageSize={PAGE_SIZE}
        total={data.total}
        link={(page, text) => (
          <Link className="button" to="/library/$kind" params={{ kind }} search={{ ...search, page }}>
            {text}
          </Link>
        )}
      />
    </div>
  );
}
