// Fits and the angle of the sun of our own; curves.py and curves.R state the same behaviour, fixtures/macros/curves.json holds all three to it.
// Missing (null, undefined, NaN, infinite) numbers are skipped; what cannot be answered is null; nothing that is given is changed.
var isNumber = (value) => typeof value === 'number' && value - value === 0;
var sumOf = (values) => values.reduce((total, value) => total + value, 0);
var finite = (value) => (isNumber(value) ? value : null);

var squares = (given) => {
  const mean = sumOf(given) / given.length;
  return sumOf(given.map((value) => (value - mean) * (value - mean)));
};

// Least squares by Householder reflections; null when a column depends on the others.
var leastSquares = (rows, values) => {
  const a = rows.map((row) => [...row]);
  const b = [...values];
  const columns = a[0].length;
  if (a.length < columns) return null;
  const largest = Array.from({ length: columns }, (_, k) => Math.sqrt(sumOf(a.map((row) => row[k] * row[k]))));
  for (let k = 0; k < columns; k++) {
    let norm = 0;
    for (let i = k; i < a.length; i++) norm += a[i][k] * a[i][k];
    norm = Math.sqrt(norm);
    if (!(norm > 1e-12 * largest[k])) return null;
    if (a[k][k] > 0) norm = -norm;
    const v = a.map((row, i) => (i < k ? 0 : i === k ? row[k] - norm : row[k]));
    const size = sumOf(v.map((value) => value * value));
    for (let j = k; j < columns; j++) {
      const t = (2 * sumOf(v.map((value, i) => value * a[i][j]))) / size;
      for (let i = k; i < a.length; i++) a[i][j] -= t * v[i];
    }
    const t = (2 * sumOf(v.map((value, i) => value * b[i]))) / size;
    for (let i = k; i < a.length; i++) b[i] -= t * v[i];
  }
  const solved = new Array(columns).fill(0);
  for (let k = columns - 1; k >= 0; k--) {
    let rest = b[k];
    for (let j = k + 1; j < columns; j++) rest -= a[k][j] * solved[j];
    solved[k] = rest / a[k][k];
  }
  return solved;
};

var quality = (y, fitted) => {
  const sse = sumOf(y.map((value, at) => (value - fitted[at]) * (value - fitted[at])));
  const total = squares(y);
  return { error: Math.sqrt(sse / y.length), rsquared: total === 0 ? null : 1 - sse / total };
};

var pairsOf = (pairs) =>
  Array.isArray(pairs) ? pairs.filter((pair) => Array.isArray(pair) && pair.length >= 2 && isNumber(pair[0]) && isNumber(pair[1])) : [];

// y = f(x, parameters) by Levenberg and Marquardt's method from given starting values; null when it does not settle.
var curveFit = (model, x, y, initial) => {
  const sse = (p) => sumOf(x.map((value, at) => (y[at] - model(value, p)) ** 2));
  let p = [...initial];
  let best = sse(p);
  let damping = 1e-3;
  if (!isNumber(best)) return null;
  for (let round = 0; round < 500; round++) {
    const rest = x.map((value, at) => y[at] - model(value, p));
    const slopes = x.map((value) =>
      p.map((factor, k) => {
        const h = 1e-6 * Math.max(Math.abs(factor), 1e-3);
        const up = p.map((other, j) => (j === k ? other + h : other));
        const down = p.map((other, j) => (j === k ? other - h : other));
        return (model(value, up) - model(value, down)) / (2 * h);
      }),
    );
    const weights = p.map((_, k) => Math.sqrt(damping * sumOf(slopes.map((row) => row[k] * row[k]))));
    const ridge = weights.map((weight, k) => weights.map((_, j) => (j === k ? weight : 0)));
    const step = slopes.flat().every(isNumber) ? leastSquares([...slopes, ...ridge], [...rest, ...p.map(() => 0)]) : null;
    const next = step === null ? null : p.map((factor, k) => factor + step[k]);
    const then = next === null ? NaN : sse(next);
    if (next !== null && then <= best) {
      const small = step.every((change, k) => Math.abs(change) <= 1e-13 * (Math.abs(next[k]) + 1e-13));
      p = next;
      best = then;
      damping = Math.max(damping / 10, 1e-16);
      if (small) break;
    } else {
      damping *= 10;
      if (damping > 1e8) break;
    }
  }
  return p;
};

var MODELS = {
  exponentialDecay: [3, (x, [a, b, c]) => a * Math.exp(-x / b) + c],
  saturation: [3, (x, [a, b, c]) => a * (1 - Math.exp(-x / b)) + c],
  michaelisMenten: [2, (x, [a, b]) => (a * x) / (b + x)],
  power: [2, (x, [a, b]) => a * x ** b],
};

function FitCurve(data, options) {
  const given = pairsOf(data);
  const { equation, initial } = options ?? {};
  if (!Object.hasOwn(MODELS, equation)) throw new RangeError(`FitCurve has no equation '${equation}'`);
  const [count, model] = MODELS[equation];
  if (!Array.isArray(initial) || initial.length !== count || !initial.every(isNumber))
    throw new RangeError(`The equation '${equation}' needs ${count} initial values`);
  if (given.length < count) return null;
  const x = given.map((pair) => pair[0]);
  const y = given.map((pair) => pair[1]);
  const parameters = curveFit(model, x, y, initial);
  if (parameters === null) return null;
  const fitted = x.map((value) => model(value, parameters));
  return { equation, parameters, points: x.map((value, at) => [value, finite(fitted[at])]), ...quality(y, fitted) };
}

// y = asymptote + amplitude * exp(-x / lifetime), started from the best of a grid of lifetimes.
function FitExponential(pairs) {
  const given = pairsOf(pairs);
  if (given.length < 3) return null;
  const x = given.map((pair) => pair[0]);
  const y = given.map((pair) => pair[1]);
  const range = Math.max(...x) - Math.min(...x);
  if (range === 0 || squares(y) === 0) return null;
  let best = null;
  for (let at = 0; at <= 40; at++) {
    const lifetime = range * 10 ** (-2 + at / 10);
    const linear = leastSquares(
      x.map((value) => [1, Math.exp(-value / lifetime)]),
      y,
    );
    if (linear === null) continue;
    const sse = sumOf(x.map((value, i) => (y[i] - linear[0] - linear[1] * Math.exp(-value / lifetime)) ** 2));
    if (best === null || sse < best.sse) best = { sse, start: [linear[1], lifetime, linear[0]] };
  }
  if (best === null) return null;
  const model = MODELS.exponentialDecay[1];
  const [amplitude, lifetime, asymptote] = curveFit(model, x, y, best.start);
  const fitted = x.map((value) => model(value, [amplitude, lifetime, asymptote]));
  return {
    points: given,
    results: x.map((value, at) => [value, fitted[at]]),
    ...quality(y, fitted),
    asymptote,
    amplitude,
    lifetime,
    slope: -1 / lifetime,
  };
}

// Between the sun and the upward normal of a surface: x to the front, y to the right; a positive pitch lifts the front, a positive roll lowers the right.
function SunAngle(roll, pitch, compass, azimuth, altitude) {
  if (![roll, pitch, compass, azimuth, altitude].every(isNumber)) return null;
  const [r, p, c, z, h] = [roll, pitch, compass, azimuth, altitude].map((degrees) => (degrees * Math.PI) / 180);
  const front = -Math.sin(p) * Math.cos(r);
  const right = Math.sin(r);
  const north = front * Math.cos(c) - right * Math.sin(c);
  const east = front * Math.sin(c) + right * Math.cos(c);
  const up = Math.cos(p) * Math.cos(r);
  const cosine = Math.min(1, Math.max(-1, north * Math.cos(h) * Math.cos(z) + east * Math.cos(h) * Math.sin(z) + up * Math.sin(h)));
  return { angle: (Math.acos(cosine) * 180) / Math.PI, percent: Math.max(0, cosine) * 100 };
}
