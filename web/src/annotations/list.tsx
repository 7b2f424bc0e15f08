import { useMutation, useQuery } from '@tanstack/react-query';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sessionQuery } from '../shell/session.ts';
import { sayDone } from '../shell/toasts.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { removeAnnotation, renewRows } from './writes.ts';

const said = words.annotations;

/** What a person said of a row, as the `annotations` column of a read has it. */
interface Annotation {
  id: string;
  type: 'comment' | 'flag';
  content: { text: string | null; flagType: string | null };
  createdBy: string | null;
  createdByName: string | null;
  createdAt: string;
}

/** Whether the caller may write and take away their own annotations, and take away those of others. */
export interface MayAnnotate {
  own: boolean;
  all: boolean;
}

function AnnotationItem({ experimentId, annotation, isRemovable }: { experimentId: string; annotation: Annotation; isRemovable: boolean }) {
  const { id, content, createdByName, createdAt } = annotation;
  const flag = content.flagType;
  const remove = useMutation({
    mutationFn: () => removeAnnotation(experimentId, id),
    onSuccess: async () => {
      await renewRows(experimentId);
      sayDone(said.removed);
    },
  });
  const sentence = content.text ?? (flag === null ? '' : (said.flagsByName[flag] ?? flag));
  return (
    <li>
      <div>
        {flag === null ? null : <span className="tag warn">{said.flagsByName[flag] ?? flag}</span>} <span>{content.text}</span>
        <p className="small quiet">{said.by(createdByName ?? words.experiment.someone, momentText(createdAt))}</p>
        <Problem error={remove.error} />
      </div>
      {isRemovable ? (
        <SendButton
          className="button danger"
          aria-label={said.removeLabel(sentence)}
          isSending={remove.isPending}
          onClick={() => remove.mutate()}
        >
          {said.remove}
        </SendButton>
      ) : null}
    </li>
  );
}

/** What people said of a row. Callers can take away their own; whoever manages the experiment can take away all. */
export function Annotations({ experimentId, value, may }: { experimentId: string; value: unknown; may: MayAnnotate }) {
  const { data: session } = useQuery(sessionQuery);
  const list = Array.isArray(value) ? (value as Annotation[]) : [];
  if (list.length === 0) return <p className="quiet">{said.none}</p>;
  return (
    <ul className="rows tight">
      {list.map((annotation) => (
        <AnnotationItem
          key={annotation.id}
          experimentId={experimentId}
          annotation={annotation}
          isRemovable={may.all || (may.own && annotation.createdBy === session?.user.id)}
        />
      ))}
    </ul>
  );
}
