/** The two ends of a tool's form: what was chosen is applied, or taken away. */
export const ToolButtons = ({ apply, clear, onClear }: { apply: string; clear: string; onClear: () => void }) => (
  <div className="inline">
    <button type="submit" className="button primary">
      {apply}
    </button>
    <button type="button" className="button" onClick={onClear}>
      {clear}
    </button>
  </div>
);
