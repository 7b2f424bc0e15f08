// NonLinearRegression as in the system that most macros come from: Gauss and Newton's method, told as text and as numbers.

// The probability of Student's t on both sides.
function studentTail(t, freedom) {
  const series = (square, from, to) => {
    let term = 1;
    let total = 1;
    for (let at = from; at <= to; at += 2) {
      term = (term * square * at) / (at + 1);
      total += term;
    }
    return total;
  };
  const angle = Math.atan(Math.abs(t) / Math.sqrt(freedom));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  if (freedom === 1) return 1 - angle / (Math.PI / 2);
  if (freedom % 2 === 1) return 1 - (angle + sine * cosine * series(cosine * cosine, 2, freedom - 3)) / (Math.PI / 2);
  return 1 - sine * series(cosine * cosine, 1, freedom - 3);
}

function studentLimit(probability, freedom) {
  let share = 0.5;
  let limit = 0;
  for (let change = 0.5; change > 1e-15;) {
    limit = 1 / share - 1;
    change /= 2;
    share += studentTail(limit, freedom) > probability ? -change : change;
  }
  return limit;
}

// Cut, not padded: what has no point in it keeps so many characters.
function numberText(value, decimals, most) {
  const half = 5 / 10 ** (decimals + 1);
  const shown = Math.abs(value) < half ? 0 : value;
  const text = ` ${shown >= 0 ? shown + half : shown - half}`;
  const cut = text.substring(0, text.indexOf('.') + decimals + 1);
  return cut.substring(cut.length - most, cut.length);
}

function shortNumber(value) {
  return numberText(value, 4, 10);
}

function longNumber(value) {
  return numberText(value, 6, 18);
}

var EQUATIONS = {
  'b + a * e(- x / c)': (x, [a, b, c]) => b + a * Math.exp(-x / c),
  '( a - c ) * e( - b * t ) + c': (x, [a, b, c]) => (a - c) * Math.exp(-b * x) + c,
  '( c + a / ( 1 + b / x ) )': (x, [a, b, c]) => c + a / (1 + b / x),
  '( c + a * a / ( 1 + b / x ) )': (x, [a, b, c]) => c + (a * a) / (1 + b / x),
};

// What a point's residual is divided by.
function errorOf(y, fitted, presets) {
  let error = 1;
  if (presets.SEy === 'w') error = y;
  if (presets.SEy === 'Rep') error = Math.sqrt(Math.abs((y * y + y * y) / 2 - y * y) / 2);
  if (presets.SEy === 'Sqrt(Y)') error = Math.sqrt(y);
  if (error == 0) error = 0.001;
  if (!presets.LeastAbs) return error;
  const side = y < fitted ? presets.cPctile / 100 : 1 - presets.cPctile / 100;
  const root = Math.sqrt(side * Math.abs(y - fitted));
  const least = 0.001 * y;
  return error * (root > least ? root : least);
}

function derivativeOf(curve, parameters, which, fitted, { error, centered }) {
  const change = parameters[which] === 0 ? 1e-4 : parameters[which] / 1e3;
  const moved = [...parameters];
  moved[which] += change;
  const above = curve(moved);
  if (!centered) return (above - fitted) / (change * error);
  // The centre itself stands for the other side, through twice the step: such a fit takes half the steps that it should.
  moved[which] -= change;
  return (above - curve(moved)) / (2 * change * error);
}

// Solves by elimination within the matrix, which then holds the inverse, and the solution in its last column.
function solveWithin(rows) {
  const count = rows.length;
  for (let i = 0; i < count; i++) {
    const pivot = rows[i][i];
    rows[i][i] = 1;
    for (let k = 0; k <= count; k++) rows[i][k] = rows[i][k] / pivot;
    for (let j = 0; j < count; j++) {
      if (j === i) continue;
      const factor = rows[j][i];
      rows[j][i] = 0;
      for (let k = 0; k <= count; k++) rows[j][k] = rows[j][k] - factor * rows[i][k];
    }
  }
}

// The variance of a fitted value, from the covariances of the step before.
function spreadOf(covariances, slopes) {
  let total = 0;
  covariances.forEach((row, i) => {
    total += row[i] * slopes[i] * slopes[i];
    for (let k = i + 1; k < covariances.length; k++) total += 2 * row[k] * slopes[i] * slopes[k];
  });
  return total;
}

function qualityText(presets, { freedom, squares, rms, r2 }) {
  const { cPts: points, cPar: count } = presets;
  const aic = points * Math.log(squares / points) + 2 * (count + 1);
  const corrected = points >= count + 2 ? aic + (2 * (count + 1) * (count + 2)) / (points - count - 2) : aic;
  return (
    `\nCorr. Coeff. = ${longNumber(Math.sqrt(r2))}; r*r = ${longNumber(r2)}` +
    `\nRMS Error = ${longNumber(rms)}; d.f = ${freedom}; SSq = ${longNumber(squares)}\n` +
    `AIC = ${longNumber(aic)}; AIC(corrected) = ${longNumber(corrected)}\n`
  );
}

function covarianceText(inverse, covariances) {
  let text = '\nCovariance Matrix Terms and Error-Correlations...\n';
  for (let i = 0; i < inverse.length; i++)
    for (let k = i; k < inverse.length; k++) {
      const correlation = inverse[i][k] / Math.sqrt(inverse[i][i] * inverse[k][k]);
      const other = i === k ? '' : `B(${k + 1},${i + 1})=`;
      text += `B(${i + 1},${k + 1})=${other} ${covariances[i][k]}; r=${correlation}\n`;
    }
  return text;
}

// One step: `state` has the parameters, the covariances and the mean of the step before, and gets its own.
function improveFit(data, presets, state) {
  const { cPts: points, cPar: count } = presets;
  const freedom = points - count;
  const limit = studentLimit(0.05, freedom);
  const equation = Object.hasOwn(EQUATIONS, presets.equation) ? EQUATIONS[presets.equation] : () => 0;
  const rows = Array.from({ length: count }, () => new Array(count + 1).fill(0));
  let [weights, fittedSum, variance, squares] = [0, 0, 0, 0];
  let text = `Y = ${presets.equation}\n`;
  for (let i = 1; i <= presets.cVar; i++) text += ` x${i} `;
  text += ' Y yc Y-yc SEest YcLo YcHi \n';
  for (let i = 0; i < points; i++) {
    const x = data[i][0];
    const y = presets.SEy === 'Rep' ? (data[i][1] + data[i][1]) / 2 : data[i][1];
    const fitted = equation(x, state.parameters);
    const error = errorOf(y, fitted, presets);
    const square = error * error;
    weights += 1 / square;
    fittedSum += fitted / square;
    variance += ((y - state.mean) * (y - state.mean)) / square;
    const how = { error, centered: presets.Centered };
    const curve = (parameters) => equation(x, parameters);
    const slopes = Array.from({ length: count }, (_, k) => derivativeOf(curve, state.parameters, k, fitted, how));
    const rest = (y - fitted) / error;
    squares += rest * rest;
    rows.forEach((row, j) => [...slopes, rest].forEach((value, k) => (row[k] += slopes[j] * value)));
    const spread = error * Math.sqrt(spreadOf(state.covariances, slopes));
    text += [y, fitted, y - fitted, spread, fitted - limit * spread, fitted + limit * spread].map(shortNumber).join('') + '\n';
  }
  const deviation = variance / weights;
  const r2 = (deviation - squares / weights) / deviation;
  const rms = Math.sqrt(squares / (freedom < 1 ? 1 : freedom));
  text += qualityText(presets, { freedom, squares, rms, r2 });
  solveWithin(rows);
  const values = state.parameters.map((value, i) => (i < count ? value + presets.RelaxF * rows[i][count] : value));
  const parameters = rows.map((row, i) => {
    const error = rms * Math.sqrt(row[i]);
    return { name: `P${i + 1}`, value: values[i], sd_error: error, p: studentTail(values[i] / error, freedom) };
  });
  const covariances = rows.map((row) => row.slice(0, count).map((value) => value * rms * rms));
  let estimates = '\nParameter Estimates...\n';
  parameters.forEach(({ value, sd_error, p }, i) => {
    estimates += `p${i + 1}=${longNumber(value)} +/- ${longNumber(sd_error)}; p=${shortNumber(p)}\n`;
  });
  const told = { text, ParameterEstimates: estimates, CovarianceMatrix: covarianceText(rows, covariances), r2: longNumber(r2) };
  return {
    state: { parameters: values, covariances, mean: fittedSum / weights },
    answer: { ...told, parameters, RMS_error: rms, presets },
  };
}

function NonLinearRegression(data, options) {
  const presets = {
    iterations: options.iterations === undefined || options.iterations > 2000 ? 200 : options.iterations,
    cPts: data.length || 0,
    cVar: options.variables || 1,
    cPar: options.initial.length || 0,
    equation: options.equation || '',
    RelaxF: options.RelaxF || 1,
    SEy: options.SEy || 1,
    yTrans: 'Y',
    x1Trans: 'X',
    ...Object.fromEntries([2, 3, 4, 5, 6, 7, 8].map((at) => [`x${at}Trans`, `X${at}`])),
    Centered: options.Centered || false,
    LeastAbs: options.LeastAbs || false,
    cPctile: options.Percentile || 50,
  };
  let state = {
    parameters: Array.from({ length: Math.max(8, presets.cPar) }, (_, at) => options.initial[at] || 0),
    covariances: Array.from({ length: presets.cPar }, () => new Array(presets.cPar).fill(0)),
    mean: 0,
  };
  let answer = {};
  const errors = [];
  for (let turn = 0; turn < presets.iterations; turn++) {
    const next = improveFit(data, presets, state);
    const error = next.answer.RMS_error;
    if (Number.isNaN(error) || (turn > 1 && errors[turn - 1] <= error)) break;
    ({ answer, state } = next);
    errors.push(error);
  }
  return { ...answer, iterations: errors.length, RMS_errors: errors };
}
