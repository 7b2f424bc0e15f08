# Linear fits and those that are made linear, of matrices and data frames, as in the system that most macros come from.

.is_table <- function(rows) is.matrix(rows) || is.data.frame(rows)

# The last column is y; `points` are the columns before it and the fitted values.
MathMULTREG <- function(rows) {
  none <- list(rsquared = NA, slopes = numeric(), points = list())
  if (!.is_table(rows) || ncol(rows) < 2 || nrow(rows) < 2) return(none)
  given <- as.matrix(rows[, -ncol(rows), drop = FALSE])
  y <- rows[, ncol(rows)]
  known <- complete.cases(given, y)
  given <- given[known, , drop = FALSE]
  y <- y[known]
  if (length(y) < 2) return(none)
  model <- lm(y ~ given)
  # A constant has no variance to explain; lm answers rounding over rounding, which each processor does in its own way.
  rsquared <- if (all(y == y[1])) NaN else suppressWarnings(summary(model))$r.squared
  list(rsquared = rsquared, slopes = as.numeric(coef(model)), points = list(given, fitted(model)))
}

# `error` is the sum of squares through one less than the number of points.
MathPOLYREG <- function(pairs, degree) {
  if (!.is_table(pairs) || nrow(pairs) < degree + 1) return(NULL)
  x <- pairs[, 1]
  y <- pairs[, 2]
  powers <- lapply(seq_len(degree), function(power) x^power)
  slopes <- MathMULTREG(do.call(cbind, c(powers, list(y))))$slopes
  fitted <- Reduce(`+`, lapply(0:degree, function(power) x^power * slopes[power + 1]))
  points <- lapply(seq_along(x), function(at) c(x[at], fitted[at]))
  list(points = points, slopes = slopes, error = sum((fitted - y)^2) / (length(y) - 1))
}

# Where a decay in equal steps ends, by the areas beneath it and its square.
.end_of_decay <- function(y) {
  n <- length(y)
  area <- sum((y[-n] + y[-1]) / 2)
  area_of_square <- sum((y[-n]^2 + y[-1]^2) / 2)
  ends <- y[1] + y[n]
  (area_of_square - (area * ends) / 2) / (area - (n * ends) / 2)
}

# y = asymptote + A * exp(t * x) by a line through the logarithms, over as many points as half a lifetime has; with fewer than two it is no fit.
MathEXPINVREG <- function(pairs) {
  if (!.is_table(pairs) || nrow(pairs) < 4) return(NULL)
  x <- pairs[, 1]
  y <- pairs[, 2]
  asymptote <- .end_of_decay(y)
  logs <- cbind(x, MathLN(abs(y - asymptote)))
  line <- function(count) MathMULTREG(logs[seq_len(min(count, nrow(logs))), , drop = FALSE])
  count <- 50
  for (turn in 1:10) {
    if (count < 2) {
      A <- 0
      t <- -999999
      break
    }
    before <- count
    fit <- line(before)
    count <- MathROUND((-1 / fit$slopes[2]) * 0.5, 0)
    if (turn == 10) fit <- line(max(count, before))
    t <- fit$slopes[2]
    A <- exp(fit$slopes[1])
  }
  curve <- A * exp(x * t) + asymptote
  list(
    points = lapply(seq_along(x), function(at) c(x[at], curve[at])),
    results = c(A, t),
    error = sum((curve - y)^2) / (length(y) - 1),
    asymptote = asymptote,
    rsquared = fit$rsquared,
    lifetime = -1 / t,
    slope = -1 * A * t
  )
}

# y = a + b * exp(-x / c), whatever the text says of an `exp` of something with `-` and `x` in it.
.fit_decay <- function(x, y, initial) {
  model <- nls(y ~ a + b * exp(-x / c), start = list(a = initial[[1]], b = initial[[2]], c = initial[[3]]))
  rest <- y - fitted(model)
  parameters <- lapply(c("a", "b", "c"), function(name) list(name = name, value = coef(model)[[name]]))
  list(text = "Exponential decay fit completed", r2 = 1 - sum(rest^2) / sum((y - mean(y))^2), parameters = parameters, RMS_error = sqrt(mean(rest^2)))
}

NonLinearRegression <- function(data, options) {
  refuse <- function(text) list(text = text, r2 = NA, parameters = list(), RMS_error = NA)
  if (!.is_table(data)) return(refuse("Error: Invalid data"))
  if (ncol(data) < 2 || nrow(data) < 3) return(refuse("Error: Insufficient data"))
  if (!is.list(options) || !all(c("equation", "initial") %in% names(options))) return(refuse("Error: Missing equation or initial parameters"))
  if (!grepl("exp.*-.*x", options$equation)) return(refuse("Equation not supported in R implementation"))
  if (length(options$initial) < 3) return(refuse("Error: Need 3 initial parameters for exponential"))
  tryCatch(.fit_decay(data[, 1], data[, 2], options$initial), error = function(error) refuse(paste("Fitting error:", conditionMessage(error))))
}
