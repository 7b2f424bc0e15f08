import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { momentText } from '../shell/format.ts';
import { isMissing, Problem } from '../shell/problem.tsx';
import { sessionQuery } from '../shell/session.ts';
import { sayDone } from '../shell/toasts.tsx';
import { takeFocusLeft } from '../ui/focus.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { ChangeForm } from './change.tsx';
import { removeAnnotation, renewRows, type Annotation } from './writes.ts';

const said = words.annotations;

/** Whether the caller may write and take away their own annotations, and take away those of others. */
export interface MayAnnotate {
  own: boolean;
  all: boolean;
}

interface ItemProps {
  experimentId: string;
  annotation: Annotation;
  isChangeable: boolean;
  isRemovable: boolean;
}

function AnnotationItem({ experimentId, annotation, isChangeable, isRemovable }: ItemProps) {
  const { id, content, createdByName, createdAt } = annotation;
  const flag = content.flagType;
  const [isOpen, setIsOpen] = useState<boolean>();
  const remove = useMutation({
    mutationFn: () => removeAnnotation(experimentId, id),
    onSuccess: async () => {
      await renewRows(experimentId);
      sayDone(said.removed);
    },
    // somebody else removed it meanwhile
    onError: (error) => (isMissing(error) ? renewRows(experimentId) : undefined),
  });
  const sentence = content.text ?? (flag === null ? '' : (said.flagsByName[flag] ?? flag));
  if (isOpen)
    return (
      <li>
        <ChangeForm experimentId={experimentId} annotation={annotation} close={() => setIsOpen(false)} />
      </li>
    );
  return (
    <li>
      <div>
        {flag === null ? null : <span className="tag warn">{said.flagsByName[flag] ?? flag}</span>} <span>{content.text}</span>
        <p className="small quiet">{said.by(createdByName ?? words.experiment.someone, momentText(createdAt))}</p>
        <Problem error={remove.error} />
      </div>
      {isRemovable ? (
        <div className="inline">
          {isChangeable ? (
            <button
              ref={isOpen === false ? takeFocusLeft : undefined}
              type="button"
              className="button"
              aria-label={said.changeLabel(sentence)}
              onClick={() => setIsOpen(true)}
            >
              {said.change}
            </button>
          ) : null}
          <SendButton
            className="button danger"
            aria-label={said.removeLabel(sentence)}
            isSending={remove.isPending}
            onClick={() => remove.mutate()}
          >
            {said.remove}
          </SendButton>
        </div>
      ) : null}
    </li>
  );
}

/** What people said of a row. Callers can change and take away their own; whoever manages the experiment can take away all. */
export function Annotations({ experimentId, value, may }: { experimentId: string; value: unknown; may: MayAnnotate }) {
  const { data: session } = useQuery(sessionQuery);
  const list = Array.isArray(value) ? (value as Annotation[]) : [];
  if (list.length === 0) return <p className="quiet">{said.none}</p>;
  return (
    <ul className="rows tight">
      {list.map((annotation) => {
        const isOwn = may.own && annotation.createdBy === session?.user.id;
        return (
          <AnnotationItem
            key={annotation.id}
            experimentId={experimentId}
            annotation={annotation}
            isChangeable={isOwn}
            isRemovable={may.all || isOwn}
          />
        );
      })}
    </ul>
  );
}
