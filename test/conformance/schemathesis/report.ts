import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

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
  /** Whether a hundred thousand cases may meet it once, or not at all. */
  seldom?: boolean;
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

/** What went wrong in the program itself. */
export interface Failure {
  operation: string;
  message: string;
}

interface Events {
  ScenarioFinished?: Scenario;
  NonFatalError?: { label: string; value: { type: string; message: string } };
}

function problemOf(answer: Answer | null | undefined): Pick<Finding, 'code' | 'problems'> {
  const text = answer?.content ? Buffer.from(answer.content.$base64, 'base64').toString() : '';
  if (!text.startsWith('{"type":"https://fieldlake.dev/errors#')) return { code: '', problems: [] };
  const { code, errors = [] } = JSON.parse(text) as { code: string; errors?: { path: string; message: string }[] };
  return { code, problems: errors.map(({ path, message }) => `${path} ${message}`) };
}

const operationOf = ({ label, recorder }: Scenario): string => label ?? recorder.label ?? '';

const findingsOf = (scenario: Scenario): Finding[] =>
  Object.entries(scenario.recorder.checks ?? {}).flatMap(([id, checks]) => {
    const answer = scenario.recorder.interactions?.[id]?.response;
    return checks
      .filter(({ status }) => status !== 'success')
      .map(({ name }) => ({
        check: name,
        operation: operationOf(scenario),
        status: answer?.status_code ?? 0,
        ...problemOf(answer),
      }));
  });

/** What a run sent and what came of it. */
export interface Outcome {
  /** Requests by operation: `POST /api/v1/macros`. */
  cases: Map<string, number>;
  findings: Finding[];
  failures: Failure[];
}

/** Adds what a report tells to an outcome. A line of a report is one scenario; the file of a long run is larger than a text may be. */
export async function readReport(report: string, { cases, findings, failures }: Outcome): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(report) })) {
    if (!line.startsWith('{"ScenarioFinished"') && !line.startsWith('{"NonFatalError"')) continue;
    const { ScenarioFinished: scenario, NonFatalError: error } = JSON.parse(line) as Events;
    if (error) failures.push({ operation: error.label, message: `${error.value.type}: ${error.value.message}` });
    if (!scenario) continue;
    const operation = operationOf(scenario);
    cases.set(operation, (cases.get(operation) ?? 0) + Object.keys(scenario.recorder.interactions ?? {}).length);
    findings.push(...findingsOf(scenario));
  }
}

export const isWithin = (finding: Finding, { check, code, problems, operations }: Exception): boolean =>
  check === finding.check &&
  code === finding.code &&
  (operations?.includes(finding.operation) ?? true) &&
  (problems === undefined || (finding.problems.length > 0 && finding.problems.every((problem) => new RegExp(problems).test(problem))));
