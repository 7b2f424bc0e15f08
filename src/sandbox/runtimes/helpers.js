// The helper functions of macros. helpers.py and helpers.R state the same behaviour; fixtures/macros/helpers.json is the table that holds all three to it.
// Missing (null, undefined, NaN, infinite) numbers are skipped; what cannot be answered is null; nothing that is given is changed.
const isNumber = (value) => typeof value === 'number' && value - value === 0;
const listOf = (values) => (Array.isArray(values) ? values : isNumber(values) ? [values] : null);
const numbersOf = (values) => (listOf(values) ?? []).filter(isNumber);
const sumOf = (values) => values.reduce((total, value) => total + value, 0);
const finite = (value) => (isNumber(value) ? value : null);

function ArrayNth(values, size = 1, index = 0) {
  if (!Array.isArray(values) || !(size >= 1) || !(index >= 0)) return null;
  return values.filter((_, at) => at >= index && (at - index) % size === 0);
}

function ArrayRange(start, stop, step = 1, transform = 'none') {
  if (stop === undefined || stop === null) [start, stop] = [0, start];
  if (![start, stop, step].every(isNumber) || step === 0) return null;
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > 1e6) throw new RangeError('ArrayRange makes at most 1000000 values');
  const change = { none: (x) => x, ln: MathLN, log: MathLOG, x2: (x) => x * x }[transform];
  if (change === undefined) throw new RangeError(`ArrayRange has no transform '${transform}'`);
  return Array.from({ length: count }, (_, at) => change(start + at * step));
}

function ArrayUnZip(pairs) {
  if (!Array.isArray(pairs) || !pairs.every((pair) => Array.isArray(pair) && pair.length >= 2)) return null;
  return { x: pairs.map((pair) => pair[0]), y: pairs.map((pair) => pair[1]) };
}

function ArrayZip(x, y) {
  if (!Array.isArray(x) || !Array.isArray(y) || x.length !== y.length) return null;
  return x.map((value, at) => [value, y[at]]);
}

const setOf = (json) => (json !== null && typeof json === 'object' && Array.isArray(json.set) ? json.set : []);
const labelOf = (entry) => (entry !== null && typeof entry === 'object' && typeof entry.label === 'string' ? entry.label : null);
const oneOrMany = (found, array) => (array ? found : found.length === 0 ? null : found.length === 1 ? found[0] : found);

function GetIndexByLabel(label, json, array = false) {
  return oneOrMany(
    setOf(json).flatMap((entry, at) => (labelOf(entry) === label ? [at] : [])),
    array,
  );
}

function GetProtocolByLabel(label, json, array = false) {
  return oneOrMany(
    setOf(json).filter((entry) => labelOf(entry) === label),
    array,
  );
}

function GetLabelLookup(json) {
  const lookup = {};
  setOf(json).forEach((entry, at) => {
    const label = labelOf(entry);
    if (label !== null) (Object.hasOwn(lookup, label) ? lookup[label] : (lookup[label] = [])).push(at);
  });
  return lookup;
}

function MathLN(value) {
  return isNumber(value) && value > 0 ? Math.log(value) : null;
}

function MathLOG(value) {
  return isNumber(value) && value > 0 ? Math.log10(value) : null;
}

function MathMAX(values) {
  const given = numbersOf(values);
  return given.length === 0 ? null : given.reduce((a, b) => (b > a ? b : a));
}

function MathMIN(values) {
  const given = numbersOf(values);
  return given.length === 0 ? null : given.reduce((a, b) => (b < a ? b : a));
}

function MathSUM(values) {
  return listOf(values) === null ? null : sumOf(numbersOf(values));
}

function MathMEAN(values) {
  const given = numbersOf(values);
  return given.length === 0 ? null : sumOf(given) / given.length;
}

function MathMEDIAN(values) {
  const given = numbersOf(values).sort((a, b) => a - b);
  const half = Math.floor(given.length / 2);
  if (given.length === 0) return null;
  return given.length % 2 === 1 ? given[half] : (given[half - 1] + given[half]) / 2;
}

const squares = (given) => {
  const mean = sumOf(given) / given.length;
  return sumOf(given.map((value) => (value - mean) * (value - mean)));
};

function MathVARIANCE(values) {
  const given = numbersOf(values);
  return given.length < 2 ? null : squares(given) / (given.length - 1);
}

function MathSTDEV(values) {
  const given = numbersOf(values);
  return given.length === 0 ? null : Math.sqrt(squares(given) / given.length);
}

function MathSTDEVS(values) {
  const variance = MathVARIANCE(values);
  return variance === null ? null : Math.sqrt(variance);
}

function MathSTDERR(values) {
  const deviation = MathSTDEVS(values);
  return deviation === null ? null : deviation / Math.sqrt(numbersOf(values).length);
}

// Halves go away from zero; the last bits of a product such as 2.675 * 100 do not decide.
function MathROUND(value, digits = 2) {
  if (!isNumber(value) || !isNumber(digits)) return null;
  const scale = 10 ** Math.abs(digits);
  const size = digits >= 0 ? Math.abs(value) * scale : Math.abs(value) / scale;
  if (!(size < 2 ** 50)) return value;
  const whole = Math.floor(size + 0.5 + size * 2 ** -50);
  const rounded = digits >= 0 ? whole / scale : whole * scale;
  return value < 0 && rounded !== 0 ? -rounded : rounded;
}

function MathLINREG(x, y) {
  if (!Array.isArray(x) || !Array.isArray(y) || x.length !== y.length) return null;
  const pairs = x.map((value, at) => [value, y[at]]).filter((pair) => pair.every(isNumber));
  const n = pairs.length;
  if (n < 2) return null;
  const mx = sumOf(pairs.map((pair) => pair[0])) / n;
  const my = sumOf(pairs.map((pair) => pair[1])) / n;
  const sxx = sumOf(pairs.map((pair) => (pair[0] - mx) * (pair[0] - mx)));
  const syy = sumOf(pairs.map((pair) => (pair[1] - my) * (pair[1] - my)));
  const sxy = sumOf(pairs.map((pair) => (pair[0] - mx) * (pair[1] - my)));
  if (sxx === 0) return null;
  const m = sxy / sxx;
  const r = syy === 0 ? null : sxy / Math.sqrt(sxx * syy);
  return { m, b: my - m * mx, r, r2: r === null ? null : r * r };
}

// Least squares by Householder reflections; null when a column depends on the others.
const leastSquares = (rows, values) => {
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

const quality = (y, fitted) => {
  const sse = sumOf(y.map((value, at) => (value - fitted[at]) * (value - fitted[at])));
  const total = squares(y);
  return { error: Math.sqrt(sse / y.length), rsquared: total === 0 ? null : 1 - sse / total };
};

const apply = (row, factors) => sumOf(row.map((value, at) => value * factors[at]));

function MathMULTREG(rows) {
  if (
    !Array.isArray(rows) ||
    rows.length === 0 ||
    !rows.every((row) => Array.isArray(row) && row.length === rows[0].length && row.length >= 2)
  )
    return null;
  const points = rows.filter((row) => row.every(isNumber));
  if (points.length === 0) return null;
  const y = points.map((row) => row[row.length - 1]);
  const design = points.map((row) => [1, ...row.slice(0, -1)]);
  const slopes = leastSquares(design, y);
  if (slopes === null) return null;
  const fitted = design.map((row) => apply(row, slopes));
  return { rsquared: quality(y, fitted).rsquared, slopes, points: fitted };
}

const pairsOf = (pairs) =>
  Array.isArray(pairs) ? pairs.filter((pair) => Array.isArray(pair) && pair.length >= 2 && isNumber(pair[0]) && isNumber(pair[1])) : [];

function MathPOLYREG(pairs, degree) {
  const given = pairsOf(pairs);
  if (!isNumber(degree) || degree < 0 || degree > 20 || degree % 1 !== 0 || given.length < degree + 1) return null;
  const y = given.map((pair) => pair[1]);
  const design = given.map((pair) => Array.from({ length: degree + 1 }, (_, power) => pair[0] ** power));
  const slopes = leastSquares(design, y);
  if (slopes === null) return null;
  const fitted = design.map((row) => apply(row, slopes));
  return { points: given.map((pair, at) => [pair[0], fitted[at]]), slopes, error: quality(y, fitted).error };
}

// y = f(x, parameters) by Levenberg and Marquardt's method from given starting values; null when it does not settle.
const curveFit = (model, x, y, initial) => {
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

const MODELS = {
  exponentialDecay: [3, (x, [a, b, c]) => a * Math.exp(-x / b) + c],
  saturation: [3, (x, [a, b, c]) => a * (1 - Math.exp(-x / b)) + c],
  michaelisMenten: [2, (x, [a, b]) => (a * x) / (b + x)],
  power: [2, (x, [a, b]) => a * x ** b],
};

function NonLinearRegression(data, options) {
  const given = pairsOf(data);
  const { equation, initial } = options ?? {};
  if (!Object.hasOwn(MODELS, equation)) throw new RangeError(`NonLinearRegression has no equation '${equation}'`);
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
function MathEXPINVREG(pairs) {
  const given = pairsOf(pairs);
  if (given.length < 3) return null;
  const x = given.map((pair) => pair[0]);
  const y = given.map((pair) => pair[1]);
  const range = MathMAX(x) - MathMIN(x);
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

const ARITHMETIC = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => (b === 0 ? null : a / b) };
const NAMED = { add: '+', subtract: '-', multiply: '*', divide: '/' };
const FUNCTIONS = {
  sqrt: (x) => (x < 0 ? null : Math.sqrt(x)),
  log: MathLN,
  ln: MathLN,
  log10: MathLOG,
  exp: Math.exp,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
};
const SMOOTHING = [-2, 3, 6, 7, 6, 3, -2];

// A weighted window around each value; the first and the last value stand in for what lies outside.
const smooth = (trace, weights) => {
  const half = (weights.length - 1) / 2;
  const total = sumOf(weights);
  return trace.map((_, at) => {
    const window = weights.map((weight, k) => [weight, trace[Math.min(Math.max(at + k - half, 0), trace.length - 1)]]);
    return window.every((entry) => isNumber(entry[1])) ? sumOf(window.map(([weight, value]) => weight * value)) / total : null;
  });
};

function TransformTrace(fn, a1, a2) {
  const trace = listOf(a1);
  if (trace === null) return null;
  const each = (change) => trace.map((value) => (isNumber(value) ? finite(change(value)) : null));
  const name = NAMED[fn] ?? fn;
  if (Object.hasOwn(ARITHMETIC, name)) {
    if (Array.isArray(a2))
      return a2.length !== trace.length
        ? null
        : trace.map((value, at) => (isNumber(value) && isNumber(a2[at]) ? finite(ARITHMETIC[name](value, a2[at])) : null));
    return isNumber(a2) ? each((value) => ARITHMETIC[name](value, a2)) : null;
  }
  if (Object.hasOwn(FUNCTIONS, name)) return each(FUNCTIONS[name]);
  const by = (divisor) => (isNumber(divisor) && divisor !== 0 ? each((value) => value / divisor) : null);
  switch (name) {
    case 'normToMin':
      return by(MathMIN(trace));
    case 'normToMax':
      return by(MathMAX(trace));
    case 'normToRange': {
      const low = MathMIN(trace);
      const range = MathMAX(trace) - low;
      return low === null || range === 0 ? null : each((value) => (value - low) / range);
    }
    case 'normToIdx':
      return by(isNumber(a2) ? trace[a2] : null);
    case 'normToVal':
      return by(a2);
    case 'ma': {
      const size = a2 === undefined || a2 === null ? 5 : a2;
      return !isNumber(size) || size < 1 || size % 2 !== 1 ? null : smooth(trace, new Array(size).fill(1));
    }
    case 'sgf':
      return smooth(trace, SMOOTHING);
    case 'abs':
      return isNumber(a2) && a2 > 0 ? each((value) => (value > 0 ? -Math.log10(value / a2) : null)) : null;
    default:
      throw new RangeError(`TransformTrace has no function '${fn}'`);
  }
}

// Between the sun and the upward normal of a surface: x to the front, y to the right; a positive pitch lifts the front, a positive roll lowers the right.
function calcSunAngle(roll, pitch, compass, azimuth, altitude) {
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

const tell = (kind) => (message, output) => {
  const target = output ?? __output;
  const messages = (target.messages ??= {});
  (messages[kind] ??= []).push(String(message));
};
var info = tell('info');
var warning = tell('warning');
var danger = tell('danger');
