# Fits and the angle of the sun of our own; curves.js and curves.py state the same behaviour, held together by fixtures/macros/curves.json.
# Missing (NULL, NA, NaN, infinite) numbers are skipped; what cannot be answered is NULL; nothing that is given is changed.
# Arrays may be vectors or lists.

.is_number <- function(value) is.numeric(value) && length(value) == 1 && is.finite(value)
.is_list <- function(value) (is.list(value) && is.null(names(value))) || (is.atomic(value) && !is.null(value) && !is.character(value)) || (is.character(value) && length(value) != 1)
.list_of <- function(values) if (.is_list(values)) as.list(unname(values)) else NULL
.numbers_of <- function(values) {
  if (is.numeric(values)) return(unname(values[is.finite(values)]))
  given <- .list_of(values)
  as.numeric(unlist(given[vapply(given, .is_number, logical(1))]))
}
.sum <- function(values) Reduce(`+`, values, 0)

# Rows of a list of rows, of a matrix or of a data frame.
.rows_of <- function(rows) {
  if (is.data.frame(rows)) rows <- as.matrix(rows)
  if (is.matrix(rows)) return(lapply(seq_len(nrow(rows)), function(at) as.list(unname(rows[at, ]))))
  if (!is.list(rows) || !is.null(names(rows))) return(NULL)
  found <- lapply(rows, .list_of)
  if (any(vapply(found, is.null, logical(1)))) NULL else found
}

.squares <- function(given) {
  mean <- .sum(given) / length(given)
  .sum((given - mean) * (given - mean))
}

# By Householder reflections; NULL when a column depends on the others.
.least_squares <- function(a, b) {
  n <- nrow(a)
  columns <- ncol(a)
  if (n < columns) return(NULL)
  largest <- sqrt(colSums(a * a))
  for (k in seq_len(columns)) {
    norm <- sqrt(sum(a[k:n, k] * a[k:n, k]))
    if (!isTRUE(norm > 1e-12 * largest[k])) return(NULL)
    if (a[k, k] > 0) norm <- -norm
    v <- a[, k]
    if (k > 1) v[seq_len(k - 1)] <- 0
    v[k] <- a[k, k] - norm
    size <- sum(v * v)
    for (j in k:columns) a[, j] <- a[, j] - (2 * sum(v * a[, j]) / size) * v
    b <- b - (2 * sum(v * b) / size) * v
  }
  solved <- numeric(columns)
  for (k in rev(seq_len(columns))) {
    rest <- b[k]
    if (k < columns) for (j in (k + 1):columns) rest <- rest - a[k, j] * solved[j]
    solved[k] <- rest / a[k, k]
  }
  solved
}

.quality <- function(y, fitted) {
  sse <- .sum((y - fitted) * (y - fitted))
  total <- .squares(y)
  list(error = sqrt(sse / length(y)), rsquared = if (total == 0) NULL else 1 - sse / total)
}

# A matrix of two columns.
.pairs_of <- function(pairs) {
  rows <- if (is.list(pairs) && !is.data.frame(pairs)) Filter(Negate(is.null), lapply(pairs, .list_of)) else .rows_of(pairs)
  rows <- Filter(function(pair) length(pair) >= 2 && .is_number(pair[[1]]) && .is_number(pair[[2]]), rows)
  matrix(as.numeric(unlist(lapply(rows, function(pair) pair[1:2]))), ncol = 2, byrow = TRUE)
}
.points <- function(x, y) lapply(seq_along(x), function(at) c(x[at], y[at]))

# y = f(x, parameters) by Levenberg and Marquardt's method from given starting values; NULL when they give no value.
.curve_fit <- function(model, x, y, initial) {
  sse <- function(p) .sum((y - suppressWarnings(model(x, p)))^2)
  p <- as.numeric(initial)
  best <- sse(p)
  damping <- 1e-3
  if (!.is_number(best)) return(NULL)
  for (round in seq_len(500)) {
    rest <- y - model(x, p)
    slopes <- vapply(
      seq_along(p),
      function(k) {
        h <- 1e-6 * max(abs(p[k]), 1e-3)
        up <- replace(p, k, p[k] + h)
        down <- replace(p, k, p[k] - h)
        suppressWarnings((model(x, up) - model(x, down)) / (2 * h))
      },
      numeric(length(x))
    )
    slopes <- matrix(slopes, nrow = length(x))
    step <- NULL
    if (all(is.finite(slopes))) step <- .least_squares(rbind(slopes, diag(sqrt(damping * colSums(slopes * slopes)), nrow = length(p))), c(rest, numeric(length(p))))
    following <- if (is.null(step)) NULL else p + step
    then <- if (is.null(following)) NaN else sse(following)
    if (isTRUE(then <= best)) {
      small <- all(abs(step) <= 1e-13 * (abs(following) + 1e-13))
      p <- following
      best <- then
      damping <- max(damping / 10, 1e-16)
      if (small) break
    } else {
      damping <- damping * 10
      if (damping > 1e8) break
    }
  }
  p
}

.models <- list(
  exponentialDecay = list(3, function(x, p) p[1] * exp(-x / p[2]) + p[3]),
  saturation = list(3, function(x, p) p[1] * (1 - exp(-x / p[2])) + p[3]),
  michaelisMenten = list(2, function(x, p) p[1] * x / (p[2] + x)),
  power = list(2, function(x, p) p[1] * x^p[2])
)

FitCurve <- function(data, options) {
  given <- .pairs_of(data)
  equation <- as.character(options$equation)
  if (length(equation) != 1 || is.null(.models[[equation]])) base::stop(sprintf("FitCurve has no equation '%s'", paste(equation, collapse = "")))
  count <- .models[[equation]][[1]]
  initial <- .numbers_of(options$initial)
  if (length(initial) != count || length(options$initial) != count) base::stop(sprintf("The equation '%s' needs %d initial values", equation, count))
  if (nrow(given) < count) return(NULL)
  model <- .models[[equation]][[2]]
  parameters <- .curve_fit(model, given[, 1], given[, 2], initial)
  if (is.null(parameters)) return(NULL)
  fitted <- model(given[, 1], parameters)
  c(list(equation = equation, parameters = I(parameters), points = .points(given[, 1], fitted)), .quality(given[, 2], fitted))
}

# y = asymptote + amplitude * exp(-x / lifetime), started from the best of a grid of lifetimes.
FitExponential <- function(pairs) {
  given <- .pairs_of(pairs)
  if (nrow(given) < 3) return(NULL)
  x <- given[, 1]
  y <- given[, 2]
  span <- max(x) - min(x)
  if (span == 0 || .squares(y) == 0) return(NULL)
  model <- .models$exponentialDecay[[2]]
  best <- NULL
  for (at in 0:40) {
    lifetime <- span * 10^(-2 + at / 10)
    linear <- .least_squares(cbind(1, exp(-x / lifetime)), y)
    if (is.null(linear)) next
    start <- c(linear[2], lifetime, linear[1])
    sse <- .sum((y - model(x, start))^2)
    if (is.null(best) || sse < best$sse) best <- list(sse = sse, start = start)
  }
  if (is.null(best)) return(NULL)
  p <- .curve_fit(model, x, y, best$start)
  fitted <- model(x, p)
  c(list(points = .points(x, y), results = .points(x, fitted)), .quality(y, fitted), list(asymptote = p[3], amplitude = p[1], lifetime = p[2], slope = -1 / p[2]))
}

# Between the sun and the upward normal of a surface: a positive pitch lifts the front, a positive roll lowers the right.
SunAngle <- function(roll, pitch, compass, azimuth, altitude) {
  given <- list(roll, pitch, compass, azimuth, altitude)
  if (!all(vapply(given, .is_number, logical(1)))) return(NULL)
  angles <- unlist(given) * pi / 180
  r <- angles[1]
  p <- angles[2]
  c <- angles[3]
  z <- angles[4]
  h <- angles[5]
  front <- -sin(p) * cos(r)
  right <- sin(r)
  north <- front * cos(c) - right * sin(c)
  east <- front * sin(c) + right * cos(c)
  up <- cos(p) * cos(r)
  cosine <- min(1, max(-1, north * cos(h) * cos(z) + east * cos(h) * sin(z) + up * sin(h)))
  list(angle = acos(cosine) * 180 / pi, percent = max(0, cosine) * 100)
}
