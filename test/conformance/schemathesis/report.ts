import { readFileSync } from 'node:fs';

/** An answer that broke a rule. */
export interface Finding {
  /** The check of schemathesis: `negative_data_rejection`. */
  check: string;
  /** `POST /api/v1/macros`. */
  operation: string;
  /** 0 where there was no answer. */
  status: number;
  /** Of a problem document; empty for any other answer. */
  code: string;
  /** What a problem document says of the places of the request: `/url must begin with https://`. */
  problems: string[];
}

/** A kind of finding that is right as it is. */
export interface Exception {
  check: string;
  code: string;
  /** What every problem of the answer must match, where the code alone says too little. */
  problems?: string;
  /** Where it may happen; everywhere without. */
  operations?: string[];
  reason: string;
}

interface Answer {
  status_code: number;
  content?: { $base64: string } | null;
}

interface Scenario {
  label?: string;
  recorder: {
    label?: string;
    interactions?: Record<string, { response?: Answer | null }>;
    checks?: Record<string, { name: string; status: string }[]>;
  };
}

/** What stopped the program from sending cases to an operation. */
export interface Failure {
  operation: string;
  message: string;
}

interface Events {
  ScenarioFinished?: Scenario;
  NonFatalError?: { label: string; value: { type: string; message: string } };
}

const eventsOf = (report: string): Events[] =>
  readFileSync(report, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"ScenarioFinished"') || line.startsWith('{"NonFatalError"'))
    .map((line) => JSON.parse(line) as Events);

function problemOf(answer: Answer | null | undefined): Pick<Finding, 'code' | 'problems'> {
  const text = answer?.content ? Buffer.from(answer.content.$base64, 'base64').toString() : '';
  if (!text.startsWith('{"type":"https://fieldlake.dev/errors#')) return { code: '', problems: [] };
  const { code, errors = [] } = JSON.parse(text) as { code: string; errors?: { path: string; message: string }[] };
  return { code, problems: errors.map(({ path, message }) => `${path} ${message}`) };
}

const findingsOf = ({ label, recorder }: Scenario): Finding[] =>
  Object.entries(recorder.checks ?? {}).flatMap(([id, checks]) => {
    const answer = recorder.interactions?.[id]?.response;
    return checks
      .filter(({ status }) => status !== 'success')
      .map(({ name }) => ({
        check: name,
        operation: label ?? recorder.label ?? '',
        status: answer?.status_code ?? 0,
        ...problemOf(answer),
      }));
  });

/** How many requests a report tells of, what they broke, and what was not sent. */
export function readReport(report: string): { cases: number; findings: Finding[]; failures: Failure[] } {
  const events = eventsOf(report);
  const scenarios = events.flatMap(({ ScenarioFinished: scenario }) => scenario ?? []);
  return {
    cases: scenarios.reduce((sum, { recorder }) => sum + Object.keys(recorder.interactions ?? {}).length, 0),
    findings: scenarios.flatMap(findingsOf),
    failures: events.flatMap(({ NonFatalError: error }) =>
      error ? { operation: error.label, message: `${error.value.type}: ${error.value.message}` } : [],
    ),
  };
}

export const isWithin = (finding: Finding, { check, code, problems, operations }: Exception): boolean =>
  check === finding.check &&
  code === finding.code &&
  (operations?.includes(finding.operation) ?? true) &&
  (problems === undefined || (finding.problems.length > 0 && finding.problems.every((problem) => new RegExp(problems).test(problem))));
