// The helper functions of macros, each as in the system that most macros come from; helpers.py and helpers.R hold to their own languages there.
// test/sandbox/reference-helpers.json has its numbers. A macro that moves keeps its own, also where they are odd; curves.js has fits that are not.

function ArrayNth(values, size, index) {
  if (!Array.isArray(values)) return null;
  const step = size === undefined || size < 1 ? 1 : size;
  const taken = [];
  for (let at = index === undefined || index < 0 ? 0 : index; at < values.length; at = at + step) taken.push(values[at]);
  return taken;
}

var RANGE_CHANGES = { none: (x) => x, log: (x) => Math.log(x) / Math.LN10, ln: (x) => Math.log(x), x2: (x) => x * x };

function ArrayRange(start, stop, step, transform = 'none') {
  const from = stop === undefined ? 0 : start;
  const to = stop === undefined ? start : stop;
  const by = step ?? 1;
  if (typeof start !== 'number' || typeof to !== 'number' || typeof by !== 'number' || by === 0) return null;
  if (!Object.hasOwn(RANGE_CHANGES, String(transform))) return null;
  const values = [];
  // Added up rather than multiplied: the last bits, and whether the end is reached, come from that.
  for (let value = from; by > 0 ? value < to : value > to; value += by) {
    if (values.length >= 1e6) throw new RangeError('ArrayRange makes at most 1000000 values');
    values.push(RANGE_CHANGES[transform](value));
  }
  return values;
}

function ArrayUnZip(pairs) {
  if (pairs === undefined || pairs.length === 0 || !Array.isArray(pairs) || !Array.isArray(pairs[0])) return null;
  return { x: pairs.map((pair) => pair[0] ?? null), y: pairs.map((pair) => pair[1] ?? null) };
}

function ArrayZip(x, y) {
  if (!Array.isArray(x) || !Array.isArray(y) || x.length !== y.length) return null;
  return x.map((value, at) => [value, y[at]]);
}

function oneOrMany(found, array) {
  if (found.length === 0) return null;
  return found.length === 1 && !array ? found[0] : found;
}

// A label that is a number is found by its text, and the other way round.
function GetIndexByLabel(label, json, array) {
  if (label === undefined || !Array.isArray(json?.set)) return null;
  return oneOrMany(
    json.set.flatMap((entry, at) => (entry.label == label ? [at] : [])),
    array,
  );
}

function GetProtocolByLabel(label, json, array) {
  if (label === undefined || !Array.isArray(json?.set)) return null;
  return oneOrMany(
    json.set.filter((entry) => entry.label == label),
    array,
  );
}

// Positions are text, as the keys of an object are.
function GetLabelLookup(json) {
  const set = json?.set;
  if (!Array.isArray(set) || set.length === 0) return null;
  const lookup = {};
  set.forEach(({ label = 'unknown' }, at) => (lookup[label] ??= []).push(String(at)));
  return lookup;
}

function isUnusable(value) {
  return value !== null && Number.isNaN(Number(value));
}

function isUsable(values) {
  return Array.isArray(values) && !values.some(isUnusable);
}

function withoutNull(values) {
  return values.filter((value) => value !== null);
}

function meanOf(values) {
  return values.reduce((total, value) => total + Number(value), 0) / values.length;
}

function squaresOf(values) {
  const mean = meanOf(values);
  return values.reduce((total, value) => total + (value - mean) ** 2, 0);
}

function MathMEAN(values) {
  return isUsable(values) ? meanOf(withoutNull(values)) + 0 : NaN;
}

function MathSUM(values) {
  const known = isUsable(values) ? withoutNull(values) : [];
  return known.length === 0 ? NaN : known.reduce((total, value) => total + Number(value), 0);
}

function MathMAX(values) {
  if (!isUsable(values) || values.length === 0) return NaN;
  return values.map(Number).reduce((a, b) => (b > a ? b : a)) + 0;
}

function MathMIN(values) {
  if (!isUsable(values) || values.length === 0) return NaN;
  return values.map(Number).reduce((a, b) => (b < a ? b : a)) + 0;
}

// Text is ordered as text.
function MathMEDIAN(values) {
  if (!isUsable(values)) return NaN;
  const ordered = withoutNull(values).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const half = Math.floor(ordered.length / 2);
  return parseFloat(ordered.length % 2 === 1 ? ordered[half] : (Number(ordered[half - 1]) + Number(ordered[half])) / 2);
}

function MathVARIANCE(values) {
  if (!isUsable(values) || values.length === 0) return NaN;
  const known = withoutNull(values);
  return known.length === 0 ? 0 : (1 / (known.length - 1)) * squaresOf(known);
}

function MathSTDEV(values) {
  const known = isUsable(values) ? withoutNull(values) : [];
  return known.length > 2 ? Math.sqrt(squaresOf(known) / known.length) : NaN;
}

function MathSTDEVS(values) {
  const known = isUsable(values) ? withoutNull(values) : [];
  return known.length > 2 ? Math.sqrt(squaresOf(known) / (known.length - 1)) : NaN;
}

function MathSTDERR(values) {
  if (!isUsable(values) || values.length <= 2) return NaN;
  const known = withoutNull(values);
  return Math.sqrt(squaresOf(known) / known.length) / Math.sqrt(known.length);
}

function MathROUND(value, digits = 2) {
  if (value === null || typeof value === 'object' || value == '') return NaN;
  if (Number(value) === 0) return 0;
  if (!value || !(parseInt(digits) >= 0)) return NaN;
  const scale = Math.pow(10, digits);
  return Math.round(Number(value) * scale) / scale + 0;
}

function MathLN(value) {
  return value ? Math.log(value) : NaN;
}

function MathLOG(value) {
  return value ? Math.log(value) / Math.LN10 : NaN;
}

// By plain sums of products, whose last digits are lost when x is far from 0.
function MathLINREG(x, y) {
  if (x.length !== y.length) return false;
  const n = x.length;
  const sx = MathSUM(x);
  const sy = MathSUM(y);
  let sxx = 0;
  let sxy = 0;
  let syy = 0;
  for (let at = 0; at < n; at++) {
    sxy += x[at] * y[at];
    sxx += x[at] * x[at];
    syy += y[at] * y[at];
  }
  const m = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  const r = (sxy - (1 / n) * sx * sy) / Math.sqrt((sxx - (1 / n) * sx ** 2) * (syy - (1 / n) * sy ** 2));
  return { m, b: (sy - m * sx) / n, r, r2: r * r };
}

var ARITHMETIC = { add: (a, b) => a + b, subtract: (a, b) => a - b, multiply: (a, b) => a * b, divide: (a, b) => a / b };
var SIGNS = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' };

function absorbance(value, reference) {
  return -Math.log(value / reference) / Math.LN10;
}

// What can be done with a number, and what with the trace alone; with an array there is only arithmetic.
var BY_NUMBER = {
  normToVal: (value, other) => value / other,
  normToIdx: (value, other, trace) => value / trace[other],
  abs: absorbance,
};
var ALONE = {
  normToMin: (trace) => {
    const low = Math.min(...trace);
    return trace.map((value) => value / low);
  },
  normToMax: (trace) => {
    const high = Math.max(...trace);
    return trace.map((value) => value / high);
  },
  normToRange: (trace) => {
    const low = Math.min(...trace);
    const range = Math.max(...trace) - low;
    return trace.map((value) => (value - low) / range);
  },
  ma: (trace) => {
    lengthen(trace, 1);
    return trace.slice(1, -1).map((_, at) => (trace[at + 1] + trace[at] + trace[at + 2]) / 3);
  },
  sgf: (trace) => {
    const { length } = trace;
    lengthen(trace, 3);
    return Array.from({ length }, (_, at) => {
      const weighted = [-2, 3, 6, 7, 6, 3, -2].map((weight, k) => weight * trace[at + k]);
      return weighted.reduce((total, value) => total + value) / 21;
    });
  },
  abs: (trace) => trace.map((value) => absorbance(value, trace[0])),
};

// The trace itself gets its own ends, mirrored, before and behind it.
function lengthen(trace, count) {
  const before = Array.from({ length: count }, (_, at) => trace[count - 1 - at]);
  const behind = Array.from({ length: count }, (_, at) => trace[trace.length - 1 - at]);
  trace.unshift(...before);
  trace.push(...behind);
}

function TransformTrace(fn, a1, a2) {
  const name = Object.hasOwn(SIGNS, String(fn)) ? SIGNS[fn] : fn;
  const known = typeof name === 'string' && [ARITHMETIC, BY_NUMBER, ALONE].some((changes) => Object.hasOwn(changes, name));
  if (!known || !Array.isArray(a1)) return 'Unknown Function';
  if (Array.isArray(a2)) {
    if (a1.length !== a2.length) return `Arrays have different sizes (a1 = ${a1.length}, a2 = ${a2.length})`;
    return Object.hasOwn(ARITHMETIC, name) ? a1.map((value, at) => ARITHMETIC[name](value, a2[at])) : [];
  }
  if (a2 === undefined) return Object.hasOwn(ALONE, name) ? ALONE[name](a1) : [];
  if (typeof a2 !== 'number') return 'Input for third parameter needs to be an array or number';
  const change = ARITHMETIC[name] ?? BY_NUMBER[name];
  return a1.map((value) => change?.(value, a2, a1));
}

// `percent` is the cosine of the angle, from -1 to 1.
function calcSunAngle(roll, pitch, compass, azimuth, altitude) {
  const [r, p, c, z, h] = [roll, pitch, compass, azimuth, altitude].map((degrees) => degrees * (Math.PI / 180));
  const [front, side, up] = [Math.cos(r) * Math.sin(p), -Math.sin(r), Math.cos(r) * Math.cos(p)];
  const device = [Math.cos(c) * front - Math.sin(c) * side, Math.sin(c) * front + Math.cos(c) * side, up];
  const sun = [Math.cos(z) * Math.cos(h), Math.sin(z), -1 * Math.cos(z) * Math.sin(h)];
  const percent = sun[0] * device[0] + sun[1] * device[1] + sun[2] * device[2];
  return { angle: (Math.acos(percent) * 180) / Math.PI, percent };
}

function tell(kind, message, output) {
  const target = output === undefined ? __output : output;
  if (target.messages === undefined) target.messages = {};
  if (target.messages[kind] === undefined) target.messages[kind] = [];
  target.messages[kind].push(message);
}

function info(message, output) {
  tell('info', message, output);
}

function warning(message, output) {
  tell('warning', message, output);
}

function danger(message, output) {
  tell('danger', message, output);
}
