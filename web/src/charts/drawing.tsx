import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Result, VisualizationSpec } from 'vega-embed';
import type { Region } from './search.ts';
import { startBrush, type Brush } from './brush.ts';
import { Problem } from '../shell/problem.tsx';
import { NotYet } from '../ui/not-yet.tsx';
import { addTips, startTips } from './tips.ts';
import { vegaFiles } from './vega.ts';
import './drawing.css';

interface DrawingProps {
  spec: VisualizationSpec;
  name: string;
  /** Whether it is of the question before. */
  isStale?: boolean;
  /** A region of the chart; absent where none can be chosen. */
  region?: { shown: Region | undefined; choose: (region: Region) => void } | undefined;
}

/** Draws a specification. The picture before stays until the next one stands. */
export function Drawing({ spec, name, isStale = false, region }: DrawingProps) {
  const frame = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<{ place: HTMLElement; view: Result['view'] }>();
  const brush = useRef<Brush>(null);
  const [error, setError] = useState<unknown>(null);
  const files = useQuery(vegaFiles);
  const draw = files.data;
  useEffect(() => {
    if (draw === undefined) return undefined;
    const place = document.createElement('div');
    // hidden from screen readers: the name of the chart stands for its hundreds of marks
    place.ariaHidden = 'true';
    // what is drawn on a white ground stands on it in a dark console, too
    place.style.colorScheme = spec.background === 'white' ? 'light' : '';
    let isGone = false;
    let end = () => {};
    const tipped = addTips(spec);
    draw(place, tipped.spec).then(
      ({ view, finalize }) => {
        if (isGone) {
          finalize();
          return;
        }
        setError(null);
        holder.current?.replaceChildren(place);
        const endTips = frame.current && tip.current ? startTips(frame.current, place, tip.current, tipped) : undefined;
        end = () => {
          endTips?.();
          finalize();
        };
        setDrawn({ place, view });
      },
      (problem: unknown) => {
        if (!isGone) setError(problem);
      },
    );
    return () => {
      isGone = true;
      end();
    };
  }, [draw, spec]);
  const isBrushed = region !== undefined;
  const choose = useEffectEvent((chosen: Region) => region?.choose(chosen));
  useEffect(() => {
    brush.current = isBrushed && drawn !== undefined ? startBrush(drawn.place, drawn.view, choose) : null;
  }, [drawn, isBrushed]);
  const shown = region?.shown;
  useEffect(() => brush.current?.show(shown ?? null), [drawn, isBrushed, shown]);
  return (
    <>
      {draw === undefined ? <NotYet {...files} /> : null}
      <Problem error={error} />
      <div ref={frame} className={isStale ? 'drawing-frame stale' : 'drawing-frame'}>
        <div
          ref={holder}
          className="drawing"
          role="img"
          aria-label={spec.description === undefined ? name : `${name}: ${spec.description}`}
        />
        <div ref={tip} className="tip" aria-live="polite" />
      </div>
    </>
  );
}
