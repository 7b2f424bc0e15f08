import { readFileSync } from 'node:fs';

/** An answer that broke a rule. */
export interface Finding {
  /** The check of schemathesis: `negative_data_rejection`. */
  check: string;
  /** `POST /api/v1/macros`. */
  operation: string;
  /** 0 where there was no answer. */
  status: number;
}

/** A kind of finding that is right as it is. */
export interface Exception {
  check: string;
  statuses: number[];
  /** Where it may happen; everywhere without. */
  operations?: string[];
  reason: string;
}

interface Scenario {
  label?: string;
  recorder: {
    label?: string;
    interactions?: Record<string, { response?: { status_code: number } | null }>;
    checks?: Record<string, { name: string; status: string }[]>;
  };
}

const scenariosOf = (report: string): Scenario[] =>
  readFileSync(report, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .map((line) => (JSON.parse(line) as { ScenarioFinished: Scenario }).ScenarioFinished);

/** How many requests a report tells of, and what they broke. */
export function readReport(report: string): { cases: number; findings: Finding[] } {
  const scenarios = scenariosOf(report);
  return {
    cases: scenarios.reduce((sum, { recorder }) => sum + Object.keys(recorder.interactions ?? {}).length, 0),
    findings: scenarios.flatMap(({ label, recorder }) =>
      Object.entries(recorder.checks ?? {}).flatMap(([id, checks]) =>
        checks
          .filter(({ status }) => status !== 'success')
          .map(({ name }) => ({
            check: name,
            operation: label ?? recorder.label ?? '',
            status: recorder.interactions?.[id]?.response?.status_code ?? 0,
          })),
      ),
    ),
  };
}

export const isWithin = (finding: Finding, { check, statuses, operations }: Exception): boolean =>
  check === finding.check && statuses.includes(finding.status) && (operations?.includes(finding.operation) ?? true);
