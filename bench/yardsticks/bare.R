# A macro in a bare interpreter with the packages loaded. The lines are those of `bare.py`.
suppressPackageStartupMessages(library(jsonlite))
macro <- NULL
messages <- file("stdin", open = "rb", blocking = TRUE)
cat("ready\n")
repeat {
  line <- readLines(messages, n = 1, warn = FALSE)
  if (length(line) == 0) break
  asked <- fromJSON(line, simplifyVector = FALSE)
  if (!is.null(asked$code)) macro <- eval(parse(text = paste0("function(json, ctx, output) {\n", asked$code, "\n}")))
  begun <- Sys.time()
  for (item in asked$items) {
    output <- new.env()
    given <- macro(fromJSON(item, simplifyVector = FALSE), list(), output)
    last <- toJSON(c(as.list(output), given), auto_unbox = TRUE, digits = I(17))
  }
  ms <- as.numeric(Sys.time() - begun, units = "secs") * 1000
  cat(toJSON(list(ms = ms, last = unclass(last)), auto_unbox = TRUE, digits = I(6)), "\n", sep = "")
}
