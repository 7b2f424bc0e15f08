# The helper functions of macros; helpers.js and helpers.py state the same behaviour, held together by fixtures/macros/helpers.json.
# Missing (NULL, NA, NaN, infinite) numbers are skipped; what cannot be answered is NULL; nothing that is given is changed.
# Arrays may be vectors or lists; positions count from 0 as in the other languages.

.is_number <- function(value) is.numeric(value) && length(value) == 1 && is.finite(value)
.is_list <- function(value) (is.list(value) && is.null(names(value))) || (is.atomic(value) && !is.null(value) && !is.character(value)) || (is.character(value) && length(value) != 1)
.list_of <- function(values) if (.is_list(values)) as.list(unname(values)) else NULL
.numbers_of <- function(values) {
  if (is.numeric(values)) return(unname(values[is.finite(values)]))
  given <- .list_of(values)
  as.numeric(unlist(given[vapply(given, .is_number, logical(1))]))
}
.sum <- function(values) Reduce(`+`, values, 0)
.finite <- function(value) if (.is_number(value)) value else NA_real_
# Numbers as a vector, anything else as a list, NULL kept.
.array <- function(values) {
  if (length(values) > 0 && all(vapply(values, function(value) is.numeric(value) && length(value) == 1, logical(1)))) return(I(as.numeric(unlist(values))))
  I(unname(values))
}
.vector <- function(values) I(vapply(values, function(value) if (is.null(value)) NA_real_ else as.numeric(value), numeric(1)))

ArrayNth <- function(values, size = 1, index = 0) {
  given <- .list_of(values)
  if (is.null(given) || !(size >= 1) || !(index >= 0)) return(NULL)
  at <- seq_along(given) - 1
  .array(given[at >= index & (at - index) %% size == 0])
}

ArrayRange <- function(start, stop = NULL, step = 1, transform = "none") {
  if (is.null(stop)) {
    stop <- start
    start <- 0
  }
  if (!.is_number(start) || !.is_number(stop) || !.is_number(step) || step == 0) return(NULL)
  count <- max(0, ceiling((stop - start) / step))
  if (count > 1e6) base::stop("ArrayRange makes at most 1000000 values")
  change <- switch(transform, none = identity, ln = MathLN, log = MathLOG, x2 = function(x) x * x, base::stop(sprintf("ArrayRange has no transform '%s'", transform)))
  .vector(lapply(seq_len(count) - 1, function(at) change(start + at * step)))
}

ArrayUnZip <- function(pairs) {
  given <- .rows_of(pairs)
  if (is.null(given) || !all(vapply(given, function(pair) length(pair) >= 2, logical(1)))) return(NULL)
  list(x = .array(lapply(given, function(pair) pair[[1]])), y = .array(lapply(given, function(pair) pair[[2]])))
}

ArrayZip <- function(x, y) {
  first <- .list_of(x)
  second <- .list_of(y)
  if (is.null(first) || is.null(second) || length(first) != length(second)) return(NULL)
  lapply(seq_along(first), function(at) .array(list(first[[at]], second[[at]])))
}

# Rows of a list of rows, of a matrix or of a data frame.
.rows_of <- function(rows) {
  if (is.data.frame(rows)) rows <- as.matrix(rows)
  if (is.matrix(rows)) return(lapply(seq_len(nrow(rows)), function(at) as.list(unname(rows[at, ]))))
  if (!is.list(rows) || !is.null(names(rows))) return(NULL)
  found <- lapply(rows, .list_of)
  if (any(vapply(found, is.null, logical(1)))) NULL else found
}

.labels_of <- function(json) {
  set <- if (is.list(json)) json[["set"]] else NULL
  if (!is.list(set) || !is.null(names(set))) return(list(set = list(), labels = character()))
  labels <- vapply(set, function(entry) if (is.list(entry) && is.character(entry[["label"]]) && length(entry[["label"]]) == 1) entry[["label"]] else NA_character_, character(1))
  list(set = set, labels = labels)
}

GetIndexByLabel <- function(label, json, array = FALSE) {
  at <- which(.labels_of(json)$labels == label) - 1
  if (array) return(I(at))
  if (length(at) == 0) NULL else at
}

GetProtocolByLabel <- function(label, json, array = FALSE) {
  known <- .labels_of(json)
  found <- known$set[which(known$labels == label)]
  if (array || length(found) > 1) return(found)
  if (length(found) == 0) NULL else found[[1]]
}

GetLabelLookup <- function(json) {
  labels <- .labels_of(json)$labels
  names <- unique(labels[!is.na(labels)])
  setNames(lapply(names, function(name) I(which(labels == name) - 1)), names)
}

MathLN <- function(value) if (.is_number(value) && value > 0) log(value) else NULL
MathLOG <- function(value) if (.is_number(value) && value > 0) log10(value) else NULL

MathMAX <- function(values) {
  given <- .numbers_of(values)
  if (length(given) == 0) NULL else max(given)
}

MathMIN <- function(values) {
  given <- .numbers_of(values)
  if (length(given) == 0) NULL else min(given)
}

MathSUM <- function(values) if (is.null(.list_of(values))) NULL else .sum(.numbers_of(values))

MathMEAN <- function(values) {
  given <- .numbers_of(values)
  if (length(given) == 0) NULL else .sum(given) / length(given)
}

MathMEDIAN <- function(values) {
  given <- sort(.numbers_of(values))
  half <- length(given) %/% 2
  if (length(given) == 0) return(NULL)
  if (length(given) %% 2 == 1) given[half + 1] else (given[half] + given[half + 1]) / 2
}

.squares <- function(given) {
  mean <- .sum(given) / length(given)
  .sum((given - mean) * (given - mean))
}

MathVARIANCE <- function(values) {
  given <- .numbers_of(values)
  if (length(given) < 2) NULL else .squares(given) / (length(given) - 1)
}

MathSTDEV <- function(values) {
  given <- .numbers_of(values)
  if (length(given) == 0) NULL else sqrt(.squares(given) / length(given))
}

MathSTDEVS <- function(values) {
  variance <- MathVARIANCE(values)
  if (is.null(variance)) NULL else sqrt(variance)
}

MathSTDERR <- function(values) {
  deviation <- MathSTDEVS(values)
  if (is.null(deviation)) NULL else deviation / sqrt(length(.numbers_of(values)))
}

# Halves go away from zero; the last bits of a product such as 2.675 * 100 do not decide.
MathROUND <- function(value, digits = 2) {
  if (!.is_number(value) || !.is_number(digits)) return(NULL)
  scale <- 10^abs(digits)
  size <- if (digits >= 0) abs(value) * scale else abs(value) / scale
  if (!(size < 2^50)) return(value)
  whole <- floor(size + 0.5 + size * 2^-50)
  rounded <- if (digits >= 0) whole / scale else whole * scale
  if (value < 0 && rounded != 0) -rounded else rounded
}

.is_array <- function(value) .is_list(value)

MathLINREG <- function(x, y) {
  first <- .list_of(x)
  second <- .list_of(y)
  if (is.null(first) || is.null(second) || length(first) != length(second)) return(NULL)
  known <- vapply(seq_along(first), function(at) .is_number(first[[at]]) && .is_number(second[[at]]), logical(1))
  a <- as.numeric(unlist(first[known]))
  b <- as.numeric(unlist(second[known]))
  n <- length(a)
  if (n < 2) return(NULL)
  mx <- .sum(a) / n
  my <- .sum(b) / n
  sxx <- .sum((a - mx) * (a - mx))
  syy <- .sum((b - my) * (b - my))
  sxy <- .sum((a - mx) * (b - my))
  if (sxx == 0) return(NULL)
  m <- sxy / sxx
  r <- if (syy == 0) NULL else sxy / sqrt(sxx * syy)
  list(m = m, b = my - m * mx, r = r, r2 = if (is.null(r)) NULL else r * r)
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

MathMULTREG <- function(rows) {
  given <- .rows_of(rows)
  if (is.null(given) || length(given) == 0 || length(given[[1]]) < 2 || any(lengths(given) != length(given[[1]]))) return(NULL)
  known <- given[vapply(given, function(row) all(vapply(row, .is_number, logical(1))), logical(1))]
  if (length(known) == 0) return(NULL)
  points <- do.call(rbind, lapply(known, function(row) as.numeric(unlist(row))))
  y <- points[, ncol(points)]
  design <- cbind(1, points[, -ncol(points), drop = FALSE])
  slopes <- .least_squares(design, y)
  if (is.null(slopes)) return(NULL)
  fitted <- as.numeric(design %*% slopes)
  list(rsquared = .quality(y, fitted)$rsquared, slopes = I(slopes), points = I(fitted))
}

# A matrix of two columns.
.pairs_of <- function(pairs) {
  rows <- if (is.list(pairs) && !is.data.frame(pairs)) Filter(Negate(is.null), lapply(pairs, .list_of)) else .rows_of(pairs)
  rows <- Filter(function(pair) length(pair) >= 2 && .is_number(pair[[1]]) && .is_number(pair[[2]]), rows)
  matrix(as.numeric(unlist(lapply(rows, function(pair) pair[1:2]))), ncol = 2, byrow = TRUE)
}
.points <- function(x, y) lapply(seq_along(x), function(at) c(x[at], y[at]))

MathPOLYREG <- function(pairs, degree) {
  given <- .pairs_of(pairs)
  if (!.is_number(degree) || degree < 0 || degree > 20 || degree %% 1 != 0 || nrow(given) < degree + 1) return(NULL)
  design <- outer(given[, 1], 0:degree, `^`)
  slopes <- .least_squares(design, given[, 2])
  if (is.null(slopes)) return(NULL)
  fitted <- as.numeric(design %*% slopes)
  list(points = .points(given[, 1], fitted), slopes = I(slopes), error = .quality(given[, 2], fitted)$error)
}

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

NonLinearRegression <- function(data, options) {
  given <- .pairs_of(data)
  equation <- as.character(options$equation)
  if (length(equation) != 1 || is.null(.models[[equation]])) base::stop(sprintf("NonLinearRegression has no equation '%s'", paste(equation, collapse = "")))
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
MathEXPINVREG <- function(pairs) {
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

.arithmetic <- list("+" = `+`, "-" = `-`, "*" = `*`, "/" = function(a, b) if (b == 0) NULL else a / b)
.named <- c(add = "+", subtract = "-", multiply = "*", divide = "/")
.functions <- list(sqrt = function(x) if (x < 0) NULL else sqrt(x), log = function(x) MathLN(x), ln = function(x) MathLN(x), log10 = function(x) MathLOG(x), exp = exp, sin = sin, cos = cos, tan = tan)

# A weighted window around each value; the first and the last value stand in for what lies outside.
.smooth <- function(trace, weights) {
  half <- (length(weights) - 1) / 2
  .vector(lapply(seq_along(trace), function(at) {
    window <- trace[pmin(pmax(at + seq_along(weights) - 1 - half, 1), length(trace))]
    if (all(vapply(window, .is_number, logical(1)))) .sum(weights * unlist(window)) / .sum(weights) else NULL
  }))
}

TransformTrace <- function(fn, a1, a2 = NULL) {
  trace <- .list_of(a1)
  if (is.null(trace)) return(NULL)
  each <- function(change) .vector(lapply(trace, function(value) if (.is_number(value)) .finite(change(value)) else NULL))
  by <- function(divisor) if (.is_number(divisor) && divisor != 0) each(function(value) value / divisor) else NULL
  name <- if (fn %in% names(.named)) .named[[fn]] else fn
  if (name %in% names(.arithmetic)) {
    act <- .arithmetic[[name]]
    if (.is_number(a2) && !is.list(a2)) return(each(function(value) act(value, a2)))
    others <- .list_of(a2)
    if (is.null(others) || length(others) != length(trace)) return(NULL)
    return(.vector(lapply(seq_along(trace), function(at) if (.is_number(trace[[at]]) && .is_number(others[[at]])) .finite(act(trace[[at]], others[[at]])) else NULL)))
  }
  if (name %in% names(.functions)) return(each(.functions[[name]]))
  switch(name,
    normToMin = by(MathMIN(trace)),
    normToMax = by(MathMAX(trace)),
    normToRange = {
      low <- MathMIN(trace)
      if (is.null(low) || MathMAX(trace) == low) NULL else each(function(value) (value - low) / (MathMAX(trace) - low))
    },
    normToIdx = by(if (.is_number(a2) && a2 >= 0 && a2 < length(trace) && a2 %% 1 == 0) trace[[a2 + 1]] else NULL),
    normToVal = by(a2),
    ma = {
      size <- if (is.null(a2)) 5 else a2
      if (.is_number(size) && size >= 1 && size %% 2 == 1) .smooth(trace, rep(1, size)) else NULL
    },
    sgf = .smooth(trace, c(-2, 3, 6, 7, 6, 3, -2)),
    abs = if (.is_number(a2) && a2 > 0) each(function(value) if (value > 0) -log10(value / a2) else NULL) else NULL,
    base::stop(sprintf("TransformTrace has no function '%s'", fn))
  )
}

# Between the sun and the upward normal of a surface: a positive pitch lifts the front, a positive roll lowers the right.
calcSunAngle <- function(roll, pitch, compass, azimuth, altitude) {
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

# `info`, `warning` and `danger`: a message in the output, by default of the item that runs.
.tell <- function(kind, own) {
  force(kind)
  function(message, output = own) {
    messages <- if (is.null(output$messages)) list() else output$messages
    messages[[kind]] <- c(messages[[kind]], list(as.character(message)))
    assign("messages", messages, envir = if (is.environment(output)) output else own)
    invisible(NULL)
  }
}
