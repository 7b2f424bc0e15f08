# The helper functions of macros, each as in the system that most macros come from; helpers.js and helpers.py hold to their own languages there.
# test/sandbox/reference-helpers.json has its numbers. A macro that moves keeps its own, also where they are odd; curves.R has fits that are not.

# An array of the measurement is a list: where its values make a vector of numbers, they are taken as one.
.vector_of <- function(values) {
  if (!is.list(values) || !is.null(names(values)) || is.object(values)) return(values)
  found <- unlist(values)
  if (is.numeric(found) || is.logical(found)) found else values
}

ArrayNth <- function(values, size = 1, index = 0) {
  if (length(values) == 0 || !(is.vector(values) || is.list(values))) return(NULL)
  if (index < 0) index <- 0
  if (size < 1) size <- 1
  values[seq(index + 1, length(values), by = size)]
}

# Up to `stop` less one, in whole steps: with a step of less than 1 that is not up to `stop`.
ArrayRange <- function(start = NULL, stop = NULL, step = 1, transform = "none") {
  if (is.null(start)) return(numeric())
  values <- if (is.null(stop)) seq(0, start - 1, by = step) else seq(start, stop - 1, by = step)
  if (transform == "log") log10(values) else if (transform == "ln") log(values) else if (transform == "x2") values^2 else values
}

ArrayUnZip <- function(pairs) {
  if (!is.list(pairs) || length(pairs) == 0) return(list(x = numeric(), y = numeric()))
  entry <- function(at) sapply(pairs, function(pair) if (length(pair) < at) NA else pair[at])
  list(x = entry(1), y = entry(2))
}

# As many pairs as the shorter of both has values.
ArrayZip <- function(x, y) lapply(seq_len(min(length(x), length(y))), function(at) c(x[at], y[at]))

.places_of <- function(label, json) {
  if (is.null(label) || !is.list(json)) return(integer())
  has_label <- function(entry) is.list(entry) && isTRUE(entry[["label"]] == label)
  which(vapply(seq_along(json$set), function(at) has_label(json$set[[at]]), TRUE))
}

GetIndexByLabel <- function(label, json, array = FALSE) {
  found <- .places_of(label, json) - 1
  if (length(found) > 0) {
    if (length(found) == 1 && !array) found[1] else found
  } else if (array) integer() else NA
}

GetProtocolByLabel <- function(label, json, array = FALSE) {
  found <- json$set[.places_of(label, json)]
  if (length(found) > 0) {
    if (length(found) == 1 && !array) found[[1]] else found
  } else if (array) list() else NULL
}

GetLabelLookup <- function(json) {
  lookup <- list()
  set <- if (is.list(json)) json$set
  for (at in seq_along(set)) {
    entry <- set[[at]]
    if (is.list(entry) && "label" %in% names(entry)) lookup[[entry$label]] <- c(lookup[[entry$label]], at - 1)
  }
  if (length(lookup) == 0) NULL else lookup
}

.of_numbers <- function(act, values) {
  known <- if (is.list(values) && !is.data.frame(values)) unlist(values) else values
  if (length(known) == 0 || !is.numeric(known)) NA else act(known, na.rm = TRUE)
}

MathMAX <- function(values) .of_numbers(max, values)
MathMIN <- function(values) .of_numbers(min, values)
MathMEAN <- function(values) .of_numbers(mean, values)

# NA of what has fewer values than that, whether they are known or not.
.of_vector <- function(act, values, least) {
  given <- .vector_of(values)
  if (!is.vector(given) || length(given) < least) NA else act(given)
}
.of_known <- function(act) function(given) {
  known <- given[!is.na(given)]
  if (length(known) < 2) NA else act(known)
}

MathMEDIAN <- function(values) .of_vector(function(given) median(given, na.rm = TRUE), values, 1)
MathSUM <- function(values) .of_vector(function(given) sum(given, na.rm = TRUE), values, 1)
MathVARIANCE <- function(values) .of_vector(function(given) var(given, na.rm = TRUE), values, 2)
MathSTDEVS <- function(values) .of_vector(function(given) sd(given, na.rm = TRUE), values, 2)
MathSTDEV <- function(values) .of_vector(.of_known(function(known) sqrt(sum((known - mean(known))^2) / length(known))), values, 2)
MathSTDERR <- function(values) .of_vector(.of_known(function(known) sd(known) / sqrt(length(known))), values, 2)

# Halves go to the even digit, of the number as it is stored.
MathROUND <- function(value, digits = 2) round(value, digits)
MathLN <- function(value) log(value)
MathLOG <- function(value) log10(value)

# By plain sums of products: of whole numbers above 46340 they are too large for R's whole numbers, and NA.
MathLINREG <- function(x, y) {
  x <- .vector_of(x)
  y <- .vector_of(y)
  if (is.null(x) || is.null(y) || length(x) != length(y)) return(FALSE)
  known <- !is.na(x) & !is.na(y)
  x <- x[known]
  y <- y[known]
  n <- length(x)
  if (n < 2 || var(x) == 0) return(FALSE)
  sx <- sum(x)
  sy <- sum(y)
  sxx <- sum(x * x)
  sxy <- sum(x * y)
  syy <- sum(y * y)
  m <- (n * sxy - sx * sy) / (n * sxx - sx * sx)
  r <- (sxy - (1 / n) * sx * sy) / sqrt((sxx - (1 / n) * sx^2) * (syy - (1 / n) * sy^2))
  list(m = m, b = (sy - m * sx) / n, r = r, r2 = r * r)
}

.average <- function(trace) {
  n <- length(trace)
  if (n < 3) return(trace)
  around <- c(trace[1], trace, trace[n])
  (around[1:n] + around[2:(n + 1)] + around[3:(n + 2)]) / 3
}

# Savitzky's and Golay's filter over seven values, with the ends mirrored; a shorter trace stays as it is.
.smooth <- function(trace) {
  n <- length(trace)
  if (n < 7) return(trace)
  around <- c(trace[3:1], trace, trace[n:(n - 2)])
  Reduce(`+`, lapply(1:7, function(at) c(-2, 3, 6, 7, 6, 3, -2)[at] * around[at:(at + n - 1)])) / 21
}

.absorbance <- function(trace, reference) {
  if (reference <= 0) rep(NA, length(trace)) else -log10(trace / reference)
}

.through_place <- function(trace, at) {
  place <- as.integer(at) + 1
  if (place[1] > 0 && place[1] <= length(trace)) trace / trace[place] else trace
}

# What needs a second argument and has none, and what has an unknown name, gives the trace as it is.
TransformTrace <- function(fn, a1, a2 = NULL) {
  trace <- .vector_of(a1)
  other <- .vector_of(a2)
  if (!is.character(fn)) stop("TransformTrace takes the name of a function")
  if (!is.vector(trace)) return(numeric())
  needs_other <- fn %in% c("add", "+", "subtract", "-", "multiply", "*", "divide", "/", "normToIdx", "normToVal")
  if (needs_other && is.null(other)) return(trace)
  low <- function() min(trace, na.rm = TRUE)
  high <- function() max(trace, na.rm = TRUE)
  switch(fn,
    "add" = , "+" = trace + other,
    "subtract" = , "-" = trace - other,
    "multiply" = , "*" = trace * other,
    "divide" = , "/" = trace / other,
    normToMin = trace / low(),
    normToMax = trace / high(),
    normToRange = (trace - low()) / (high() - low()),
    normToIdx = .through_place(trace, other),
    normToVal = if (other[1] == 0) trace else trace / other,
    ma = .average(trace),
    sgf = .smooth(trace),
    abs = .absorbance(trace, if (is.null(other)) trace[1] else other),
    sqrt = sqrt(trace),
    log = log(trace),
    log10 = log10(trace),
    exp = exp(trace),
    sin = sin(trace),
    cos = cos(trace),
    tan = tan(trace),
    trace
  )
}

# `info`, `warning` and `danger`: a message in the output, by default of the item that runs. The output of an item takes it in, of a list there is a new one.
.tell <- function(kind, own) {
  force(kind)
  function(message, output = own) {
    if (is.environment(output)) {
      messages <- if (is.list(output$messages)) output$messages else list()
      messages[[kind]] <- c(as.list(messages[[kind]]), list(message))
      assign("messages", messages, envir = output)
      return(invisible(output))
    }
    told <- if (is.list(output)) output else list()
    messages <- if (is.list(told$messages)) told$messages else list()
    messages[[kind]] <- c(messages[[kind]], message)
    told$messages <- messages
    told
  }
}
