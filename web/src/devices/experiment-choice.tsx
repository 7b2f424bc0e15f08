import { useQuery } from '@tanstack/react-query';
import { ownExperimentsQuery } from '../home/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';

const said = words.devices.device;

interface ExperimentChoiceProps {
  /** Experiments that are not offered. */
  without: readonly string[];
  action: string;
  isBusy: boolean;
  error: unknown;
  choose: (experimentId: string) => void;
}

/** Chooses one of the experiments that are one's own or shared. The service says whether a device may be bound to it. */
export function ExperimentChoice({ without, action, isBusy, error, choose }: ExperimentChoiceProps) {
  const asked = useQuery(ownExperimentsQuery);
  const open = asked.data?.filter(({ id }) => !without.includes(id)) ?? [];
  if (asked.data !== undefined && open.length === 0) return <p className="small quiet">{said.nowhere}</p>;
  return (
    <Form className="stack" send={(fields) => choose(fields['experiment'] ?? '')}>
      <div className="inline">
        <SelectField id="bind-experiment" label={said.choose} name="experiment" required>
          <Options texts={open.map(({ id, name }) => [id, name])} />
        </SelectField>
        <SendButton type="submit" isSending={isBusy} isIdle={open.length === 0}>
          {action}
        </SendButton>
      </div>
      <Problem error={asked.error ?? error} />
    </Form>
  );
}
