// Linear fits and those that are made linear, as in the system that most macros come from.

// The last column is y; `points` are the columns before it and the fitted values.
function MathMULTREG(rows) {
  const count = rows[0].length - 1;
  const columns = Array.from({ length: rows[0].length }, (_, j) => Array.from({ length: rows.length }, (_, i) => rows[i][j]));
  const given = columns.slice(0, Math.max(count, 0));
  const y = columns[count];
  const design = transpose([new Array(columns[0].length).fill(1), ...given]);
  const { Q, R } = QRDecomp(design);
  const slopes = dot(inv(R), dot(transpose(Q), y));
  const mean = y.reduce((total, value) => total + value, 0) / y.length;
  const fitted = y.map((_, i) => given.reduce((total, _, j) => total + slopes[j + 1] * design[i][j + 1], 0) + slopes[0]);
  let explained = 0;
  let all = 0;
  for (let i = 0; i < y.length; i++) {
    explained += (fitted[i] - mean) * (fitted[i] - mean);
    all += (y[i] - mean) * (y[i] - mean);
  }
  return { rsquared: explained / all, slopes, points: [given, fitted] };
}

// `error` is the sum of squares through one less than the number of points.
function MathPOLYREG(pairs, degree) {
  const end = degree + 1;
  const rows = [];
  for (let i = 0; i < pairs.length; i++) {
    const row = [];
    for (let power = 1; power < end; power++) row.push(Math.pow(pairs[i][0], power));
    rows.push([...row, pairs[i][1]]);
  }
  const { slopes } = MathMULTREG(rows);
  let squares = 0;
  const points = Array.from(pairs, ([x, y]) => {
    let fitted = 0;
    for (let power = 0; power < end; power++) fitted += Math.pow(x, power) * slopes[power];
    squares += Math.pow(fitted - y, 2);
    return [x, fitted];
  });
  return { points, slopes, error: squares / (pairs.length - 1) };
}

// Where a decay in equal steps ends, by the areas beneath it and its square.
function endOfDecay(y) {
  let area = 0;
  let areaOfSquare = 0;
  for (let i = 0; i < y.length - 1; i++) {
    area += (y[i] + y[i + 1]) / 2;
    areaOfSquare += (Math.pow(y[i], 2) + Math.pow(y[i + 1], 2)) / 2;
  }
  const ends = y[0] + y[y.length - 1];
  return (areaOfSquare - (area * ends) / 2) / (area - (y.length * ends) / 2);
}

// y = asymptote + A · e^(t · x) by a line through the logarithms, over as many points as half a lifetime has; with fewer than two it is no fit.
function MathEXPINVREG(pairs) {
  const y = [];
  for (let i = 0; i < pairs.length; i++) y.push(pairs[i][1]);
  const asymptote = endOfDecay(y);
  const logs = clone(pairs);
  for (let i = 0; i < logs.length; i++) {
    const rest = y[i] - asymptote;
    logs[i][1] = MathLN(rest < 0 ? -rest : rest);
  }
  let line;
  let [A, t] = [0, -999999];
  let count = 50;
  for (let turn = 0; turn < 10; turn++) {
    if (count < 2) {
      [A, t] = [0, -999999];
      break;
    }
    const before = count;
    line = MathMULTREG(logs.slice(0, before));
    count = MathROUND((-1 / line.slopes[1]) * 0.5, 0);
    if (turn === 9) line = MathMULTREG(logs.slice(0, count > before ? count : before));
    t = line.slopes[1];
    A = Math.pow(Math.E, line.slopes[0]);
  }
  const curve = (x) => A * Math.pow(Math.E, x * t);
  const squares = pairs.reduce((total, [x], i) => total + Math.pow(curve(x) - y[i] + asymptote, 2), 0);
  return {
    points: pairs.map(([x]) => [x, curve(x) + asymptote]),
    results: [A, t],
    error: squares / (pairs.length - 1),
    asymptote,
    rsquared: line.rsquared,
    lifetime: -1 / t,
    slope: -1 * A * t,
  };
}
