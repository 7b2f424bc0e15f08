# Runs R macros inside a box: messages come on stdin, answers leave on stdout, each a record separator, JSON and a line feed.
local({
  LOG_BYTES <- 64000
  OUTPUT_BYTES <- 10e6
  MAX_DEPTH <- 100
  options(keep.source = TRUE, warn = 1, stringsAsFactors = FALSE, digits = 15)
  # Loading utils asks the system for a program, and there is neither a shell nor a second process here.
  base <- baseenv()
  unlockBinding("Sys.which", base)
  assign("Sys.which", function(names) structure(rep("", length(names)), names = names), envir = base)
  lockBinding("Sys.which", base)
  for (name in c("methods", "datasets", "utils", "grDevices", "graphics", "stats")) suppressPackageStartupMessages(library(name, character.only = TRUE))
  loadNamespace("jsonlite")
  loadNamespace("parallel")
  loadNamespace("compiler")

  helpers <- new.env(parent = globalenv())
  for (file in c("helpers.R", "fits.R", "curves.R")) sys.source(file.path("/box", file), envir = helpers)
  for (name in ls(helpers, all.names = TRUE)) if (!startsWith(name, ".")) assign(name, get(name, envir = helpers), envir = globalenv())

  proof <- new.env()
  sys.source("/box/proof.R", envir = proof)

  # Taken before a macro runs: what it redefines is not what we answer with.
  from_json <- jsonlite::fromJSON
  answer_to <- stdout()
  reply <- function(text) {
    cat("\036", text, "\n", sep = "", file = answer_to)
    flush(answer_to)
  }
  output_error <- function(...) stop(structure(class = c("OutputError", "error", "condition"), list(message = paste0(...), call = NULL)))

  # One value is a scalar, several an array, NULL and NA null, a named list an object, a data frame an array of records, a factor its labels.
  to_plain <- function(value, path = "output", depth = 0) {
    if (depth > MAX_DEPTH) output_error("the output is nested more than ", MAX_DEPTH, " levels deep")
    if (is.null(value)) return(NULL)
    if (inherits(value, "POSIXlt")) value <- as.POSIXct(value)
    if (is.environment(value)) value <- as.list(value, all.names = TRUE)
    if (inherits(value, "AsIs")) {
      class(value) <- setdiff(class(value), "AsIs")
      if (is.atomic(value) && length(value) != 1) return(to_atoms(as_atoms(value, path), path))
      return(unname(lapply(as.list(value), function(entry) to_plain(entry, path, depth + 1))))
    }
    if (is.data.frame(value)) {
      columns <- lapply(as.list(value), function(column) if (is.list(column)) column else as_atoms(column, path))
      return(unname(lapply(seq_len(nrow(value)), function(row) lapply(columns, function(column) to_plain(column[[row]], path, depth + 1)))))
    }
    if (is.matrix(value)) return(unname(lapply(seq_len(nrow(value)), function(row) as.list(unname(to_atoms(value[row, ], path))))))
    if (is.atomic(value)) {
      atoms <- as_atoms(value, path)
      if (!is.null(names(value)) && length(value) > 0 && all(nzchar(names(value)))) return(lapply(setNames(as.list(atoms), names(value)), scalar))
      if (length(atoms) == 1) return(scalar(atoms[[1]]))
      return(to_atoms(atoms, path))
    }
    if (is.list(value)) {
      value <- unclass(value)
      names_of <- names(value)
      if (is.null(names_of)) return(lapply(value, function(entry) to_plain(entry, path, depth + 1)))
      names_of[!nzchar(names_of)] <- as.character(seq_along(value))[!nzchar(names_of)]
      return(setNames(lapply(seq_along(value), function(at) to_plain(value[[at]], paste0(path, "$", names_of[at]), depth + 1)), names_of))
    }
    output_error(path, " is of type ", typeof(value), ", which JSON cannot hold")
  }
  scalar <- function(value) if (is.na(value) || (is.numeric(value) && !is.finite(value))) NULL else value
  # A time to the microsecond. R itself cuts fractions of a second instead of rounding them.
  iso_time <- function(value) {
    micros <- round(as.numeric(value) * 1e6)
    seconds <- floor(micros / 1e6)
    fraction <- micros - seconds * 1e6
    text <- format(.POSIXct(seconds, "UTC"), "%Y-%m-%dT%H:%M:%S")
    ifelse(is.na(micros), NA, paste0(text, ifelse(fraction == 0, "", sprintf(".%06.0f", fraction)), "Z"))
  }
  as_atoms <- function(value, path) {
    if (is.factor(value)) return(as.character(value))
    if (inherits(value, "Date")) return(format(value))
    if (inherits(value, "POSIXt")) return(iso_time(value))
    if (inherits(value, "difftime")) return(as.numeric(value, units = "secs"))
    if (is.complex(value)) output_error(path, " is a complex number; send its parts")
    if (is.raw(value)) return(as.integer(value))
    as.vector(unclass(value))
  }
  # Vectors stay vectors, which is fast.
  to_atoms <- function(value, path) I(unname(value))

  # JSON of what to_plain makes. jsonlite's own takes longer than most macros.
  quoted <- function(text) {
    if (length(text) == 0) return(character())
    text <- enc2utf8(text)
    if (!all(validUTF8(text))) text <- iconv(text, "UTF-8", "UTF-8", sub = "\ufffd")
    if (any(grepl("[\"\\\\[:cntrl:]]", text))) {
      text <- gsub("\"", "\\\"", gsub("\\", "\\\\", text, fixed = TRUE), fixed = TRUE)
      if (any(grepl("[[:cntrl:]]", text))) for (code in 1:31) text <- gsub(intToUtf8(code), sprintf("\\u%04x", code), text, fixed = TRUE)
    }
    paste0("\"", text, "\"")
  }
  # One text for each value.
  written <- function(values) {
    text <- if (is.character(values)) quoted(values)
      else if (is.logical(values)) ifelse(values, "true", "false")
      else if (is.integer(values)) sprintf("%d", values)
      else sprintf("%.17g", values)
    unknown <- is.na(values) | (is.numeric(values) & !is.finite(values))
    if (any(unknown)) text[unknown] <- "null"
    text
  }
  as_json <- function(plain) {
    if (is.null(plain)) return("null")
    if (!is.list(plain)) {
      text <- written(as.vector(unclass(plain)))
      return(if (length(plain) == 1 && !inherits(plain, "AsIs")) text else paste0("[", paste(text, collapse = ","), "]"))
    }
    entries <- vapply(plain, as_json, "", USE.NAMES = FALSE)
    if (length(entries) == 0) return(if (is.null(names(plain))) "[]" else "{}")
    if (is.null(names(plain))) return(paste0("[", paste(entries, collapse = ","), "]"))
    paste0("{", paste(quoted(make.unique(names(plain))), entries, sep = ":", collapse = ","), "}")
  }

  as_text <- function(plain) {
    text <- if (length(plain) == 0) "{}" else as_json(plain)
    if (nchar(text, "bytes") > OUTPUT_BYTES) output_error("the output of this item is larger than 10 MB")
    text
  }

  place_of <- function(calls) {
    for (call in rev(calls)) {
      source <- attr(call, "srcref")
      if (inherits(source, "srcref") && identical(attr(source, "srcfile")$filename, "<macro>")) return(list(line = source[1], column = source[5]))
    }
    NULL
  }

  parse_macro <- function(code) {
    code <- gsub("\r\n?", "\n", code)
    parse(text = code, srcfile = srcfilecopy("<macro>", strsplit(code, "\n", fixed = TRUE)[[1]]), keep.source = TRUE)
  }
  problem_of <- function(error) {
    text <- conditionMessage(error)
    found <- regmatches(text, regexec("^<macro>:([0-9]+):([0-9]+): ([^\n]*)", text))[[1]]
    if (length(found) == 4) return(list(type = "SyntaxError", message = found[4], line = as.integer(found[2]), column = max(1L, as.integer(found[3]))))
    list(type = "SyntaxError", message = text, line = 1L, column = 1L)
  }

  macro <- NULL
  refusal <- NULL
  # Whether the items of the macro may run in this process; each item of another runs in a copy of it, in which no macro has run.
  shared <- TRUE
  # The text that this was read from.
  judged <- NULL
  item_ms <- 1000
  limit_text <- "reached elapsed time limit|reached CPU time limit"

  # What the macro is called in. It is emptied for every item and stays the same, so that R's compiler sees one function.
  scope <- NULL
  call_macro <- NULL
  # What the macro assigned to `output`; NULL where it only filled it.
  assigned <- NULL
  keep_assigned <- function(frame) assigned <<- if (exists("output", envir = frame, inherits = FALSE)) get("output", envir = frame)
  leave <- as.call(list(base::on.exit, as.call(list(keep_assigned, as.call(list(base::environment))))))
  # `return(...)` at the top ends the macro; each expression keeps its own place in the text.
  make_call <- function() {
    scope <<- new.env(parent = globalenv())
    body <- as.call(c(as.name("{"), leave, as.list(macro)))
    whole <- list(attr(macro, "wholeSrcref"))
    attr(body, "srcref") <- c(whole, whole, attr(macro, "srcref"))
    attr(body, "srcfile") <- attr(macro, "srcfile")
    call_macro <<- eval(call("function", NULL, body), scope)
  }
  global <- globalenv()
  # What a macro left among the global names, which `<<-` writes to.
  clear_globals <- function() {
    left <- ls(global, all.names = TRUE, sorted = FALSE)
    left <- left[!left %in% ours]
    if (length(left) > 0) rm(list = left, envir = global)
  }
  fill_scope <- function(values) {
    if (environmentIsLocked(scope) || bindingIsActive("ctx", scope)) stop("the scope is not ours any more")
    unlockBinding("ctx", scope)
    rm(list = ls(scope, all.names = TRUE, sorted = FALSE), envir = scope)
    list2env(values, scope)
    lockBinding("ctx", scope)
  }

  is_named_list <- function(value) is.list(value) && !is.object(value) && (length(value) == 0 || (!is.null(names(value)) && all(nzchar(names(value)))))

  run <- function(data, context) {
    output <- new.env(parent = emptyenv())
    values <- list(json = data, ctx = context, output = output)
    for (kind in c("info", "warning", "danger")) values[[kind]] <- helpers$.tell(kind, output)
    clear_globals()
    tryCatch(fill_scope(values), error = function(error) {
      make_call()
      list2env(values, scope)
      lockBinding("ctx", scope)
    })
    assigned <<- NULL
    result <- withVisible(call_macro())
    returned <- if (result$visible) result$value else NULL
    # who returns a list may call another value output
    entries <- if (is.list(returned) && (!is.object(returned) || is.data.frame(returned))) returned else if (is.environment(assigned)) as.list(assigned, all.names = TRUE, sorted = FALSE) else assigned
    if (!is.null(entries) && !is_named_list(entries)) output_error("a macro returns a named list, or fills output; put this value under a key")
    given <- as.list(output, all.names = TRUE, sorted = FALSE)
    for (name in names(entries)) given[name] <- list(entries[[name]])
    as_text(to_plain(given))
  }

  run_item <- function(message) {
    printed <- character()
    place <- NULL
    started <- proc.time()[["elapsed"]]
    prints <- textConnection(NULL, "w", local = TRUE)
    sink(prints)
    depth <- sink.number()
    note <- function(condition) cat(conditionMessage(condition), sep = "")
    answer <- tryCatch(
      {
        setTimeLimit(elapsed = item_ms / 1000, transient = TRUE)
        text <- if (!is.null(refusal)) NULL else withCallingHandlers(
          run(message$data, message$ctx),
          error = function(error) if (is.null(place)) place <<- place_of(sys.calls()),
          warning = function(condition) {
            cat("Warning: ", conditionMessage(condition), "\n", sep = "")
            invokeRestart("muffleWarning")
          },
          message = function(condition) {
            note(condition)
            invokeRestart("muffleMessage")
          }
        )
        if (is.null(text)) list(ok = FALSE, error = refusal) else text
      },
      error = function(error) {
        message_of <- tryCatch(conditionMessage(error), error = function(other) "the message of this error cannot be read")
        if (grepl(limit_text, message_of)) return(list(ok = FALSE, error = list(type = "TimeoutError", message = sprintf("The macro ran longer than %g s on this item.", item_ms / 1000))))
        type <- if (grepl("^cannot allocate|memory exhausted", message_of)) "MemoryError" else class(error)[1]
        list(ok = FALSE, error = c(list(type = type, message = paste(message_of, collapse = " ")), place))
      }
    )
    setTimeLimit()
    while (sink.number() > depth) sink()
    if (sink.number() == depth) sink()
    printed <- textConnectionValue(prints)
    close(prints)
    options(usual)
    spent <- cumsum(nchar(printed, "bytes") + 1)
    if (length(printed) > 0 && spent[length(spent)] > LOG_BYTES) printed <- c(printed[spent <= LOG_BYTES], "... (cut)")
    elapsed <- (proc.time()[["elapsed"]] - started) * 1000
    start <- if (is.character(answer)) paste0('"ok":true,"output":', answer) else paste0('"ok":false,"error":', as_json(answer$error))
    # What is left of a huge object slows the next item down.
    last <- if (is.list(answer) && answer$error$type %in% c("MemoryError", "OutputError", "TimeoutError")) ',"last":true' else ""
    reply(sprintf('{"i":%d,%s,"logs":%s,"ms":%.3f%s}', as.integer(message$i), start, as_json(I(printed)), elapsed, last))
  }

  # The package's own functions switch the compiler off in a copy.
  native <- function(name) get(paste0("C_mc_", name), envir = asNamespace("parallel"))
  begin_copy <- native("fork")
  end_process <- native("kill")
  close_files <- native("close_fds")
  own_end <- native("master_fd")
  hand_over <- native("send_master")
  await_copies <- native("select_children")
  read_copy <- native("read_child")
  HIGHEST_FILE <- 63
  # After the limit within the copy, and before the service gives up the whole process.
  LATE_S <- 0.12

  failure <- function(message, type, text) {
    sprintf('{"i":%d,"ok":false,"error":%s,"logs":[],"ms":%d', as.integer(message$i), as_json(list(type = type, message = text)), as.integer(item_ms))
  }
  signal <- function(process, number) tryCatch(.Call(end_process, process, number), error = function(error) FALSE)
  # Ends a copy and whatever it has started, and waits until its place is free: a copy that finds none leaves R deaf to the ends of others.
  end_copy <- function(copy) {
    signal(-1L, 9L)
    while (is.raw(.Call(read_copy, copy))) NULL
    for (turn in 1:1000) if (signal(copy, 0L)) Sys.sleep(0.0002) else break
  }
  # What a copy of this process does: it answers one item, and knows no way to the messages and the answers of others.
  work_apart <- function(message) {
    end <- .Call(own_end)
    .Call(close_files, as.integer(setdiff(c(1, 3:HIGHEST_FILE), end)))
    reply <<- function(text) .Call(hand_over, charToRaw(enc2utf8(text)))
    run_item(message)
    .Call(end_process, Sys.getpid(), 9L)
  }
  # Its text is in the macro's hands: it is one line and stays within its item, whatever it says.
  text_of <- function(said) {
    if (!is.raw(said) || length(said) < 2 || said[1] != 0x7b || said[length(said)] != 0x7d || any(said == 0x0a) || any(said == 0)) return(NULL)
    rawToChar(said[-length(said)])
  }
  # Folders of this process's own. They are listed one by one, since a listing of all beneath them follows a link to everywhere.
  folders <- list.dirs("/tmp")
  files_now <- function() list(lapply(folders, list.files, all.files = TRUE, no.. = TRUE), file.mtime(folders))
  files_first <- NULL
  run_apart <- function(message) {
    if (is.null(files_first)) files_first <<- files_now()
    copy <- tryCatch(.Call(begin_copy, FALSE), error = function(error) NULL)
    # Where nothing can be copied the process is new itself, and serves this item only.
    if (is.null(copy)) {
      answered <- reply
      on.exit(reply <<- answered)
      reply <<- function(text) answered(sub("}$", ',"last":true}', text))
      return(run_item(message))
    }
    if (copy[1] == 0) work_apart(message)
    ready <- .Call(await_copies, item_ms / 1000 + LATE_S, copy[1])
    said <- if (isTRUE(ready)) NULL else .Call(read_copy, copy[1])
    end_copy(copy[1])
    text <- if (isTRUE(ready)) failure(message, "TimeoutError", sprintf("The macro ran longer than %g s on this item.", item_ms / 1000))
      else text_of(said)
    if (is.null(text)) text <- failure(message, "CrashError", "The process of this macro ended while it worked on this item.")
    last <- if (identical(files_now(), files_first)) "false" else "true"
    reply(sprintf('%s,"i":%d,"last":%s}', text, as.integer(message$i), last))
  }
  # What every copy would do again is done once.
  prepare <- function() {
    wanted <- unique(unlist(lapply(as.list(macro), proof$named_packages)))
    for (package in wanted) tryCatch(suppressMessages(loadNamespace(package)), error = function(error) NULL)
    call_macro <<- compiler::cmpfun(call_macro, list(suppressAll = TRUE))
  }

  # What R compiles and loads at first use is not the first item's to pay for.
  usual <- options()
  for (name in ls(global, all.names = TRUE)) lockBinding(name, global)
  ours <- ls(global, all.names = TRUE)
  answered <- reply
  reply <- function(text) NULL
  for (code in c(
    "output$a <- c(1, 2)\nlist(b = 'x', c = NULL, d = TRUE, e = list(1L, NaN), f = data.frame(g = 1:2))",
    "print(1)\nwarning('w')\nmessage('m')\nstop('s')",
    "d <- data.frame(x = c(1, 2, 3), y = c(2.1, 3.9, 6.2))\nf <- summary(lm(y ~ x, d))\nlist(q = quantile(d$y, 0.5), s = sd(d$y), o = sort(d$x), r = f$r.squared)"
  )) {
    macro <- parse_macro(code)
    make_call()
    for (turn in 1:3) run_item(list(i = 0, data = list(), ctx = list()))
  }
  macro <- NULL
  reply <- answered

  messages <- file("stdin", open = "rb", blocking = TRUE)
  reply('{"ready":true}')
  repeat {
    line <- readLines(messages, n = 1, warn = FALSE, encoding = "UTF-8")
    if (length(line) == 0) break
    message <- from_json(line, simplifyVector = FALSE)
    if (message$op == "job") {
      item_ms <- message$itemMs
      refusal <- NULL
      macro <- tryCatch(parse_macro(message$code), error = function(error) {
        refusal <<- problem_of(error)
        NULL
      })
      usual <- options()
      make_call()
      if (!identical(message$code, judged)) {
        judged <- message$code
        shared <- is.null(macro) || isTRUE(tryCatch(proof$keeps_to_itself(macro, c("json", "ctx", "output", "info", "warning", "danger", ours)), error = function(error) FALSE))
      }
      if (!shared) prepare()
      reply('{"go":true}')
    } else if (message$op == "item") {
      if (shared) run_item(message) else run_apart(message)
    } else if (message$op == "check") {
      problems <- tryCatch(
        {
          parse_macro(message$code)
          list()
        },
        error = function(error) list(problem_of(error)[c("line", "column", "message")])
      )
      reply(paste0('{"problems":', as_json(problems), "}"))
    }
  }
})
