interface Sent {
  error: unknown;
  /** When it was sent, in milliseconds; 0 for what never was. */
  submittedAt: number;
}

/** Finds why the last of some changes failed; null when it did not. What went wrong before it is over. */
export const findLastError = (...sent: [Sent, ...Sent[]]): unknown =>
  sent.reduce((last, each) => (each.submittedAt > last.submittedAt ? each : last)).error;
