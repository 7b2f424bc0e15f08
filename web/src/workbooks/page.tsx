import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { AboutPanel } from '../library/about.tsx';
import { Behind } from '../library/behind.tsx';
import { CopyButton } from '../library/copy.tsx';
import { useDraft } from '../library/draft.ts';
import { LibraryHead, LibraryItem } from '../library/head.tsx';
import { renewLibrary } from '../library/queries.ts';
import { useSaving } from '../library/saving.ts';
import { VersionsPanel } from '../library/versions.tsx';
import { WriteBar } from '../library/write-bar.tsx';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { CellList } from './cell-list.tsx';
import {
  changeWorkbook,
  copyWorkbook,
  problemsQuery,
  versionQuery,
  versionsQuery,
  workbookQuery,
  type Cell,
  type Workbook,
} from './queries.ts';

const route = getRouteApi('/guarded/library/workbooks/$workbook');
const said = words.workbooks;
/** What a run leaves in a cell, which no version keeps. */
const RUN_DATA = new Set(['isAnswered', 'answer', 'evaluatedPathId']);

/** Prints cells as a version keeps them, which has no outputs either. */
const printed = (cells: readonly Cell[]) => {
  const kept = cells.filter(({ type }) => type !== 'output');
  return JSON.stringify(
    kept.map((cell) => Object.fromEntries(Object.entries(cell).filter(([key]) => !RUN_DATA.has(key)))),
    null,
    2,
  );
};

function Versions({
  workbook: { id, isUpgradable, experimentCount },
  written,
  take,
}: {
  workbook: Workbook;
  written: Cell[];
  take: ((cells: Cell[]) => void) | undefined;
}) {
  const asked = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useQuery(versionsQuery(id));
  const before = asked.before ?? versions.data?.[0]?.version ?? 1;
  const idOf = (version: number | undefined) => versions.data?.find((each) => each.version === version)?.id;
  const [oldId, newId] = [idOf(before), idOf(asked.after)];
  const old = useQuery({ ...versionQuery(id, oldId ?? ''), enabled: oldId !== undefined });
  const newer = useQuery({ ...versionQuery(id, newId ?? ''), enabled: newId !== undefined });
  const next = asked.after === undefined ? written : newer.data?.cells;
  const kept = old.data?.cells;
  if (versions.data?.length === 0)
    return (
      <section className="panel" aria-labelledby="versions">
        <h2 id="versions">{words.library.versions.title}</h2>
        <p className="quiet">{said.noVersions}</p>
      </section>
    );
  return (
    <>
      {isUpgradable ? (
        <p className="notice" role="status">
          {said.upgradable(experimentCount)}
        </p>
      ) : null}
      <VersionsPanel
        versions={versions.data?.map(({ version, createdAt }) => ({ version, createdAt, createdByName: null }))}
        before={before}
        after={asked.after}
        old={kept === undefined ? undefined : printed(kept)}
        next={next === undefined ? undefined : printed(next)}
        language="json"
        error={versions.error ?? old.error ?? newer.error}
        choose={(which, version) => void navigate({ search: (now) => ({ ...now, [which]: version }), replace: true, resetScroll: false })}
        take={take === undefined || kept === undefined ? undefined : () => take(kept)}
      />
    </>
  );
}

function WorkbookWork({ workbook, tag }: { workbook: Workbook; tag: string }) {
  const { id, cells, capabilities } = workbook;
  const mayWrite = capabilities?.canUpdate === true;
  const draft = useDraft<Cell[]>(cells, tag);
  const problems = useQuery(problemsQuery(id));
  const saving = useSaving({
    draft,
    tag,
    store: (withTag, written) => changeWorkbook(id, withTag, { cells: written }),
    says: () => said.saved,
    renew: () => renewLibrary('workbooks', id),
  });
  const { isChanged } = draft;
  return (
    <>
      <section className="panel" aria-labelledby="cells">
        <header>
          <h2 id="cells">{said.cells}</h2>
          <span className="small quiet">
            {problems.data?.problems.length === 0 && cells.length > 0 && !isChanged
              ? said.noProblems
              : words.library.cells(draft.value.length)}
          </span>
        </header>
        <Problem error={problems.error} />
        <CellList
          cells={draft.value}
          problems={isChanged ? [] : (problems.data?.problems ?? [])}
          change={mayWrite ? draft.change : undefined}
        />
        {mayWrite ? (
          <WriteBar isChanged={isChanged} isSending={saving.isSaving} save={() => saving.save(draft.value)} drop={saving.drop} />
        ) : (
          <CopyButton kind="workbooks" name={workbook.name} copy={(copied) => copyWorkbook(workbook, copied)} />
        )}
        {saving.told === undefined ? (
          <Problem error={saving.error} />
        ) : (
          <Behind theirs={printed(cells)} mine={printed(draft.value)} language="json" told={saving.told} saving={saving} />
        )}
      </section>
      <Versions workbook={workbook} written={draft.value} take={mayWrite ? draft.change : undefined} />
    </>
  );
}

/** A workbook: its cells, what would stop it in the field, its versions, and what it is for. */
export function WorkbookPage() {
  const { workbook: id } = route.useParams();
  return (
    <LibraryItem key={id} kind="workbooks" asked={useQuery(workbookQuery(id))}>
      {({ workbook, tag }) => (
        <>
          <LibraryHead kind="workbooks" item={workbook} trait={words.library.cells(workbook.cells.length)} />
          <WorkbookWork workbook={workbook} tag={tag} />
          <AboutPanel kind="workbooks" item={workbook} tag={tag} change={(begun, patch) => changeWorkbook(id, begun, patch)} />
        </>
      )}
    </LibraryItem>
  );
}
