export type CodeLanguage = 'python' | 'r' | 'javascript' | 'json';

/** Something wrong in a text, and where: line and column count from 1. */
export interface CodeProblem {
  line: number;
  column?: number | undefined;
  message: string;
}
