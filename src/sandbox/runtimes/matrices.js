// Vectors and matrices as arrays. They are changed and added up in this order, since singular cases are told by what rounding leaves.

function sumOfProducts(count, product) {
  let at = count - 1;
  let total = product(at);
  for (at -= 1; at >= 1; at -= 2) total += product(at) + product(at - 1);
  return at === 0 ? total + product(0) : total;
}

function transpose(x) {
  const width = x[0].length;
  const made = new Array(width);
  for (let j = 0; j < width; j++) made[j] = Array.from(x, (row) => row[j]);
  return made;
}

function _getCol(x, column, into) {
  for (let i = x.length - 1; i >= 0; i--) into[i] = x[i][column];
}

function subVV(x, y) {
  const made = [];
  for (let i = 0; i < x.length; i++) made.push(x[i] - y[i]);
  return made;
}

function innerProd(x, y) {
  if (x.length !== y.length) return undefined;
  let total = 0;
  for (let i = 0; i < x.length; i++) total += x[i] * y[i];
  return total;
}

function normal(x) {
  return Math.sqrt(innerProd(x, x));
}

function proj(x, y) {
  const share = innerProd(x, y) / innerProd(x, x);
  const made = [];
  for (let i = 0; i < x.length; i++) made.push(share * x[i]);
  return made;
}

function mulVS(x, factor) {
  for (let i = 0; i < x.length; i++) x[i] = x[i] * factor;
  return x;
}

function mulSV(factor, x) {
  return mulVS(x, factor);
}

function dotVV(x, y) {
  return sumOfProducts(x.length, (i) => x[i] * y[i]);
}

function dotMV(x, y) {
  return Array.from(x, (row) => dotVV(row, y));
}

function dotVM(x, y) {
  const width = y[0].length;
  const made = new Array(width);
  for (let k = 0; k < width; k++) made[k] = sumOfProducts(x.length, (j) => x[j] * y[j][k]);
  return made;
}

function dotMMsmall(x, y) {
  const width = y[0].length;
  return Array.from(x, (row) => {
    const made = new Array(width);
    for (let k = 0; k < width; k++) made[k] = sumOfProducts(y.length, (j) => row[j] * y[j][k]);
    return made;
  });
}

function dotMMbig(x, y) {
  const width = y[0].length;
  const made = Array.from(x, () => new Array(width));
  const column = new Array(y.length);
  for (let k = 0; k < width; k++) {
    _getCol(y, k, column);
    for (let i = 0; i < x.length; i++) made[i][k] = dotVV(x[i], column);
  }
  return made;
}

function _dim(x) {
  const lengths = [];
  for (let inner = x; typeof inner === 'object'; inner = inner[0]) lengths.push(inner.length);
  return lengths;
}

function dim(x) {
  if (typeof x !== 'object') return [];
  if (typeof x[0] !== 'object') return [x.length];
  return typeof x[0][0] === 'object' ? _dim(x) : [x.length, x[0].length];
}

function dot(x, y) {
  const [left, right] = [dim(x).length, dim(y).length];
  if (left === 2 && right === 2) return y.length < 10 ? dotMMsmall(x, y) : dotMMbig(x, y);
  if (left === 2 && right === 1) return dotMV(x, y);
  if (left === 1 && right === 2) return dotVM(x, y);
  if (left === 1 && right === 1) return dotVV(x, y);
  if (left === 1 && right === 0) return mulVS(x, y);
  if (left === 0 && right === 1) return mulSV(x, y);
  if (left === 0 && right === 0) return x * y;
  throw new Error('dot takes numbers, vectors and matrices');
}

function clone(x) {
  const made = [];
  for (let i = 0; i < x.length; i++) {
    made.push([]);
    for (let j = 0; j < x[0].length; j++) made[i].push(x[i][j]);
  }
  return made;
}

function rep(sizes, value, from = 0) {
  const count = sizes[from];
  const made = new Array(count);
  for (let i = count - 1; i >= 0; i--) made[i] = from === sizes.length - 1 ? value : rep(sizes, value, from + 1);
  return made;
}

function diag(values) {
  const count = values.length;
  const made = new Array(count);
  for (let i = 0; i < count; i++) {
    made[i] = new Array(count).fill(0);
    made[i][i] = values[i];
  }
  return made;
}

function identity(count) {
  return diag(rep([count], 1));
}

// By Gauss and Jordan; a column without a number to divide by ends in an error.
function inv(x) {
  const [height, width] = dim(x);
  const left = clone(x);
  const right = identity(height);
  for (let j = 0; j < width; j++) {
    let best = -1;
    for (let i = j; i < height; i++) if (Math.abs(left[i][j]) > (best < 0 ? -1 : Math.abs(left[best][j]))) best = i;
    if (best < 0) throw new TypeError('A matrix that has no inverse');
    [left[best], left[j]] = [left[j], left[best]];
    [right[best], right[j]] = [right[j], right[best]];
    const pivot = left[j][j];
    for (let k = j; k < width; k++) left[j][k] /= pivot;
    for (let k = 0; k < width; k++) right[j][k] /= pivot;
    for (let i = 0; i < height; i++) {
      if (i === j) continue;
      const factor = left[i][j];
      for (let k = j + 1; k < width; k++) left[i][k] -= left[j][k] * factor;
      for (let k = 0; k < width; k++) right[i][k] -= right[j][k] * factor;
    }
  }
  return right;
}

// By Gram and Schmidt. R is what multiplying back gives, so that its lower half holds rounding errors.
function QRDecomp(x) {
  const units = [];
  for (const column of transpose(x)) {
    const shared = new Array(column.length).fill(0);
    for (const unit of units) proj(unit, column).forEach((value, i) => (shared[i] += value));
    const rest = subVV(column, shared);
    const size = normal(rest);
    units.push(rest.map((value) => value / size));
  }
  const Q = transpose(units);
  return { Q, R: dot(transpose(Q), x) };
}
