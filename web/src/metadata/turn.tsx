import { countText } from '../shell/format.ts';
import { StillButton } from '../ui/still-button.tsx';
import { words } from '../words.ts';

const said = words.metadata;

/** Rows that are shown at once. */
export const ROWS_SHOWN = 50;

interface TurnProps {
  /** Place of the first row that is shown. */
  from: number;
  all: number;
  turn: (from: number) => void;
}

/** Says which rows are shown, and leads to those before and after. */
export function Turn({ from, all, turn }: TurnProps) {
  if (all <= ROWS_SHOWN) return null;
  const to = Math.min(from + ROWS_SHOWN, all);
  return (
    <div className="inline metadata-turn">
      <p className="small number" role="status">
        {said.shown(countText(from + 1), countText(to), countText(all))}
      </p>
      <StillButton isStill={from === 0} onClick={() => turn(from - ROWS_SHOWN)}>
        {said.previousRows}
      </StillButton>
      <StillButton isStill={to === all} onClick={() => turn(from + ROWS_SHOWN)}>
        {said.nextRows}
      </StillButton>
    </div>
  );
}
