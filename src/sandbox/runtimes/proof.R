# Reads from a macro's text whether it can change anything but values of its own; proof.py states the same for Python.

words <- function(text) strsplit(trimws(text), "[[:space:]]+")[[1]]

# They read and compute. What reaches environments, options, files or calls a function by the name in a text is not among them.
.FUNCTIONS <- words("
  ( if for while repeat break next return function + - * / ^ %% %/% %*% %in% %o% == != < > <= >= ! & && | || : [ [[ $ xor isTRUE isFALSE any all
  identical all.equal abs sqrt exp log log10 log2 log1p expm1 sin cos tan asin acos atan atan2 sinh cosh tanh ceiling floor round signif trunc sum prod
  max min range mean median var sd mad quantile fivenum IQR cumsum cumprod cummax cummin diff pmin pmax rev sort order rank rle unique duplicated
  tabulate table cut findInterval which which.min which.max seq seq_len seq_along rep rep_len length nrow ncol NROW NCOL dim names colnames rownames
  dimnames levels nlevels c list vector numeric character logical integer double complex factor matrix array data.frame cbind rbind t crossprod solve
  det diag as.numeric as.double as.integer as.character as.logical as.vector as.list as.data.frame as.matrix as.factor as.Date as.POSIXct as.POSIXlt
  as.difftime is.null is.na is.nan is.finite is.infinite is.numeric is.character is.logical is.list is.vector is.data.frame is.matrix is.factor
  is.function is.element inherits class typeof mode nchar substr substring strsplit paste paste0 sprintf format formatC toupper tolower trimws gsub sub
  grepl regmatches regexpr gregexpr regexec startsWith endsWith chartr strtoi prettyNum unlist unname setNames append head tail stack split unsplit
  merge subset transform expand.grid I invisible print message warning stop stopifnot suppressWarnings suppressMessages tryCatch conditionMessage nargs
  missing switch ifelse is.environment identity union intersect setdiff rowSums colSums rowMeans colMeans scale max.col cor cov weighted.mean
  complete.cases na.omit coef residuals fitted summary anova confint vcov deviance logLik AIC BIC nobs resid lowess ecdf density convolve fft poly
  polyroot shapiro.test chisq.test dnorm pnorm qnorm dt pt qt df pf qf dchisq pchisq qchisq dbinom pbinom qbinom dpois ppois qpois dunif punif qunif
  dexp pexp qexp dgamma pgamma qgamma dbeta pbeta qbeta rnorm runif rexp rbinom rpois sample sample.int choose factorial gamma lgamma beta lbeta
  Sys.time Sys.Date ISOdate ISOdatetime strftime strptime difftime weekdays months julian bitwAnd bitwOr Re Im Mod Arg Conj is.complex droplevels
  interaction make.names make.unique rawToChar charToRaw utf8ToInt intToUtf8 with lengths nzchar aperm row col lower.tri upper.tri svd eigen qr chol
  kronecker zapsmall time start end labels q quit jitter p.adjust cutree dist hclust kmeans
")
.VALUES <- words("T F pi letters LETTERS month.name month.abb ...")
# Called by name only: these arguments must be functions that can be read here.
.TAKE_FUNCTIONS <- list(
  sapply = "FUN", lapply = "FUN", vapply = "FUN", mapply = "FUN", apply = "FUN", tapply = "FUN", outer = "FUN", sweep = "FUN", Map = "f", Reduce = "f",
  Filter = "f", Position = "f", Find = "f", optim = c("fn", "gr"), optimize = "f", optimise = "f", uniroot = "f", integrate = "f", nlm = "f", nlminb = "objective",
  Negate = "f"
)
# Called by name and with these arguments only: others take the name of a function, or of a file.
.TAKE_ONLY <- lapply(list(
  lm = "formula data weights", nls = "formula data start", cat = "sep fill", try = "expr silent", predict = "object newdata interval level",
  t.test = "x y data paired var.equal mu alternative conf.level", wilcox.test = "x y data paired mu alternative exact correct", var.test = "x y data ratio",
  cor.test = "x y data method alternative", prcomp = "x center scale. scale rank.", approx = "x y xout method n rule yleft yright f",
  approxfun = "x y method rule yleft yright f", spline = "x y n method xmin xmax xout", splinefun = "x y method"
), words)
.REPLACED <- words("[ [[ $ names colnames rownames dim dimnames levels diag is.na substr")
# Whoever gives them another meaning gives one to all that is read here.
.SYNTAX <- words("<- = <<- { ( if for while repeat function return $ [ [[ ~ : :: :::")
.FORMULA <- words("~ + - * / ^ : ( %in% I log log10 log2 sqrt exp poly sin cos abs")

# Names that the text gives a value, and whether each value is a function that stands there.
given_names <- function(node, found = list()) {
  if (!is.call(node) && !is.pairlist(node)) return(found)
  head <- if (is.call(node) && is.symbol(node[[1]])) as.character(node[[1]]) else ""
  if (head %in% c("<-", "=") && length(node) == 3) {
    target <- node[[2]]
    while (is.call(target) && length(target) > 1) target <- target[[2]]
    name <- as.character(target)[1]
    literal <- is.symbol(node[[2]]) && is.call(node[[3]]) && identical(node[[3]][[1]], as.name("function"))
    found[[name]] <- literal && !identical(found[[name]], FALSE)
  }
  if (head == "for") found[[as.character(node[[2]])]] <- FALSE
  if (head == "function") for (name in names(node[[2]])) found[[name]] <- FALSE
  for (at in seq_along(node)) {
    entry <- node[[at]]
    if (!missing(entry) && !inherits(entry, "srcref")) found <- given_names(entry, found)
  }
  found
}

# TRUE when nothing that runs these expressions differs afterwards; `offered` are names of the harness. FALSE says only that it could not be read from them.
# `bound` are names that have a value of the macro's own wherever a node runs.
keeps_to_itself <- function(expressions, offered) {
  functions <- c(.FUNCTIONS, offered)
  given <- given_names(as.call(c(as.name("{"), as.list(expressions))))
  known_function <- function(name) exists(name, envir = globalenv(), mode = "function")
  is_literal <- function(node) is.call(node) && identical(node[[1]], as.name("function"))

  value_is_fine <- function(name, bound) name %in% functions || name %in% .VALUES || name %in% bound || !exists(name, envir = globalenv())
  # An argument that is called, or looked up by its text.
  called_is_fine <- function(node, bound) {
    if (is.character(node)) return(length(node) == 1 && node %in% functions && !node %in% names(given))
    if (!is.symbol(node)) return(is_literal(node) && is_fine(node, bound))
    name <- as.character(node)
    if (name %in% names(given)) isTRUE(given[[name]]) && (name %in% functions || !known_function(name)) else name %in% functions
  }
  formula_is_fine <- function(node) {
    if (!is.call(node)) return(TRUE)
    head <- if (is.symbol(node[[1]])) as.character(node[[1]]) else ""
    head %in% .FORMULA && !head %in% names(given) && all(vapply(as.list(node)[-1], formula_is_fine, TRUE))
  }
  target_is_fine <- function(node, bound) {
    if (is.symbol(node) || is.character(node)) return(TRUE)
    if (!is.symbol(node[[1]]) || !as.character(node[[1]]) %in% .REPLACED || !target_is_fine(node[[2]], bound)) return(FALSE)
    identical(node[[1]], as.name("$")) || all_are_fine(as.list(node)[-(1:2)], bound)
  }
  all_are_fine <- function(nodes, bound) {
    for (at in seq_along(nodes)) {
      node <- nodes[[at]]
      if (!missing(node) && !is_fine(node, bound)) return(FALSE)
    }
    TRUE
  }
  # What one statement gives a value has it in those after it.
  block_is_fine <- function(nodes, bound) {
    for (node in nodes) {
      if (!is_fine(node, bound)) return(FALSE)
      if (is.call(node) && length(node) == 3 && as.character(node[[1]])[1] %in% c("<-", "=") && is.symbol(node[[2]])) bound <- c(bound, as.character(node[[2]]))
    }
    TRUE
  }
  arguments_by_name <- function(name, node) {
    if (name %in% names(given) || any(vapply(as.list(node)[-1], identical, TRUE, as.name("...")))) return(NULL)
    tryCatch(as.list(match.call(get(name, envir = globalenv(), mode = "function"), node))[-1], error = function(error) NULL)
  }
  call_is_fine <- function(name, node, bound) {
    if (name %in% c("<-", "=")) return(length(node) == 3 && target_is_fine(node[[2]], bound) && is_fine(node[[3]], bound))
    if (name == "{") return(block_is_fine(as.list(node)[-1], bound))
    if (name == "for") return(is_fine(node[[3]], bound) && is_fine(node[[4]], c(bound, as.character(node[[2]]))))
    if (name == "function") return(all_are_fine(as.list(node[[2]]), bound) && is_fine(node[[3]], c(bound, names(node[[2]]))))
    if (name == "$") return(is_fine(node[[2]], bound))
    if (name == "~") return(formula_is_fine(node))
    if (name %in% names(.TAKE_FUNCTIONS)) {
      taken <- arguments_by_name(name, node)
      called <- names(taken) %in% .TAKE_FUNCTIONS[[name]]
      if (!.TAKE_FUNCTIONS[[name]][1] %in% names(taken)) return(FALSE)
      return(all(vapply(taken[called], called_is_fine, TRUE, bound)) && all_are_fine(taken[!called], bound))
    }
    if (name %in% names(.TAKE_ONLY)) {
      taken <- arguments_by_name(name, node)
      named <- names(taken)[nzchar(names(taken))]
      return(!is.null(taken) && all(named %in% .TAKE_ONLY[[name]]) && all_are_fine(taken, bound))
    }
    # A name that is no function outside of the macro is one of its own, or an error.
    (name %in% functions || !known_function(name)) && all_are_fine(as.list(node)[-1], bound)
  }
  is_fine <- function(node, bound) {
    if (is.symbol(node)) return(value_is_fine(as.character(node), bound))
    if (!is.call(node)) return(is.atomic(node) || is.null(node))
    if (is.symbol(node[[1]])) call_is_fine(as.character(node[[1]]), node, bound) else all_are_fine(as.list(node), bound)
  }
  !any(names(given) %in% .SYNTAX) && block_is_fine(as.list(expressions), character())
}

# Packages that the text asks for, wherever it does.
named_packages <- function(node) {
  if (!is.call(node)) return(character())
  own <- character()
  if (is.symbol(node[[1]]) && as.character(node[[1]]) %in% c("library", "require", "requireNamespace", "loadNamespace", "::", ":::") && length(node) > 1)
    if (is.symbol(node[[2]]) || is.character(node[[2]])) own <- as.character(node[[2]])
  nested <- lapply(seq_along(node), function(at) {
    entry <- node[[at]]
    if (missing(entry)) character() else named_packages(entry)
  })
  c(own, unlist(nested))
}
