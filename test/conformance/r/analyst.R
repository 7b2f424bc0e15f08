# An analyst's script: sends a data frame, reads it back by every way that R has, and compares each number with R's own.
suppressPackageStartupMessages({
  library(httr2)
  library(jsonlite)
  library(data.table)
  library(bit64)
})
given <- commandArgs(trailingOnly = TRUE)
base <- given[1]
key <- given[2]
data <- paste0("/api/v1/experiments/", given[3], "/data")
set.seed(as.integer(given[4]))

ask <- function(path) {
  request(paste0(base, path)) |>
    req_headers("x-api-key" = key) |>
    req_retry(max_tries = 5, is_transient = \(answer) resp_status(answer) %in% c(429, 503))
}
json <- function(value) as.character(toJSON(value, auto_unbox = TRUE, null = "null", digits = NA))
same <- function(what, found, wanted, tolerance = 1e-9) {
  told <- all.equal(found, wanted, tolerance = tolerance, check.attributes = FALSE)
  if (!isTRUE(told)) stop(what, ": ", told, "\n", toString(head(found)), "\n", toString(head(wanted)))
}

n <- 600
some <- function(values) sample(values, n, TRUE)
frame <- data.table(
  no = seq_len(n),
  treatment = factor(some(c("low", "high", NA)), levels = c("low", "high")),
  plot = some(c("B2", "Ünter, den Linden", "日本", "=1+1", "", NA)),
  rep = some(1:4),
  count = some(c(0:50, NA)),
  ok = some(c(TRUE, FALSE, NA)),
  day = as.Date("1962-01-01") + some(0:30000),
  at = as.POSIXct("2026-03-28 20:00:00", tz = "UTC") + sort(some(0:(3 * 86400))),
  y = c(round(rnorm(n - 4, 20, 5), 3), NA, 1e-300, 123456.125, -0.5),
  big = as.integer64("9007199254740993") + as.integer64(some(0:1000))
)
path <- file.path(tempdir(), "frame.csv")
fwrite(frame, path)

idempotency <- paste0("r-", Sys.time())
send <- function() {
  ask(paste0(data, "/uploads")) |>
    req_headers("Idempotency-Key" = idempotency) |>
    req_body_multipart(sourceKind = "csv", targetKind = "new", targetName = "frame", files = curl::form_file(path)) |>
    req_perform() |>
    resp_body_json()
}
upload <- send()
stopifnot(send()$uploadId == upload$uploadId)
repeat {
  report <- ask(paste0(data, "/uploads/", upload$uploadId)) |> req_perform() |> resp_body_json(simplifyVector = TRUE)
  if (!report$status %in% c("pending", "running")) break
  Sys.sleep(0.2)
}
stopifnot(report$status == "completed", report$files$stored == n)
columns <- report$files$columns[[1]]
same("types", columns$type, c("INT", "STRING", "STRING", "INT", "INT", "BOOLEAN", "DATE", "TIMESTAMP", "DOUBLE", "BIGINT"))
same("missing", columns$missingValues, unname(sapply(frame, \(column) sum(is.na(column)))))

read <- function(...) ask(data) |> req_url_query(tableName = "frame", ...) |> req_perform()
table <- function(...) fread(text = resp_body_string(read(format = "csv", raw = "true", ...)), encoding = "UTF-8", na.strings = "")

all <- table(orderBy = "no")
for (name in c("no", "rep", "count", "ok")) same(name, all[[name]], frame[[name]], 0)
same("treatment", all$treatment, as.character(frame$treatment))
same("plot", fifelse(is.na(all$plot), "", all$plot), fifelse(is.na(frame$plot), "", frame$plot))
same("missing plots", is.na(all$plot), is.na(frame$plot))
same("day", as.Date(all$day), frame$day)
same("at", as.numeric(all$at), as.numeric(frame$at))
same("y", all$y, frame$y, 0)
same("big", as.character(all$big), as.character(frame$big))
lines <- stream_in(textConnection(resp_body_string(read(format = "ndjson", orderBy = "no"))), verbose = FALSE)
same("big in lines", lines$big, as.character(frame$big))
same("y in lines", lines$y, frame$y, 0)
same("plot in lines", lines$plot, frame$plot)

aggregate <- function(by, ...) {
  functions <- lapply(list(...), \(each) setNames(as.list(each), c("column", "function", "alias", "secondColumn")[seq_along(each)]))
  table(aggregation = json(list(groupBy = by, functions = functions)))
}
words <- c("avg", "std", "var", "sem", "ci95", "median", "p05", "p95", "min", "max", "sum", "count", "count_distinct")
asked <- lapply(words, \(word) c("y", word, word))
found <- do.call(aggregate, c(list(list(list(column = "treatment"), list(column = "rep"))), asked))
wanted <- frame[!is.na(y), .(
  avg = mean(y), std = sd(y), var = var(y), sem = sd(y) / sqrt(.N), ci95 = qt(0.975, .N - 1) * sd(y) / sqrt(.N), median = median(y),
  p05 = quantile(y, 0.05), p95 = quantile(y, 0.95), min = min(y), max = max(y), sum = sum(y), count = .N, count_distinct = uniqueN(y)
), by = .(treatment = as.character(treatment), rep)]
setkey(found, treatment, rep)
setkey(wanted, treatment, rep)
# the quantile of Student's t is right to one part in a million
for (name in names(wanted)) same(name, found[[name]], wanted[[name]], if (name == "ci95") 1e-6 else 1e-9)
found <- aggregate(list(list(column = "ok")), c("y", "corr", "r", "count"), c("big", "max", "most"))
wanted <- frame[, .(r = cor(y, count, use = "complete.obs"), most = as.character(max(big))), by = ok]
same("correlations", found[order(ok)]$r, wanted[order(ok)]$r)
same("greatest", as.character(found[order(ok)]$most), wanted[order(ok)]$most)
found <- aggregate(list(list(column = "at", timeBucket = "day", timezone = "Europe/Berlin")), c("no", "count", "n"))
wanted <- frame[, .N, by = .(day = as.Date(at, tz = "Europe/Berlin"))]
same("days over the change of clocks", found$n, wanted$N)
same("their beginnings", as.Date(found[[1]], tz = "Europe/Berlin"), wanted$day)
for (unit in c("month", "quarter", "year")) {
  found <- aggregate(list(list(column = "day", timeBucket = unit)), c("count", "sum", "sum"), c("no", "count", "n"))
  wanted <- frame[order(day), .(sum = if (all(is.na(count))) NA_integer_ else sum(count, na.rm = TRUE), n = .N), by = .(at = as.Date(cut(day, unit)))]
  same(unit, found[, -1], wanted[, -1])
}

many <- function(...) nrow(table(columns = "no", filters = json(list(list(...)))))
same("not equal, or nothing", many(column = "treatment", operator = "not_equals", value = "low"), frame[is.na(treatment) | treatment != "low", .N])
same("empty text", many(column = "plot", operator = "equals", value = ""), sum(frame$plot == "", na.rm = TRUE))
same("letters", many(column = "plot", operator = "in", value = c("日本", "Ünter, den Linden")), frame[plot %in% c("日本", "Ünter, den Linden"), .N])
same("old days", many(column = "day", operator = "between", value = c("1965-01-01", "1969-12-31")), frame[year(day) %in% 1965:1969, .N])
same("64 bits", many(column = "big", operator = "equals", value = as.character(frame$big[7])), sum(frame$big == frame$big[7]))

page <- read(orderBy = "no")
numbers <- c()
repeat {
  numbers <- c(numbers, resp_body_json(page, simplifyVector = TRUE)$data$rows[[1]]$no)
  link <- resp_link_url(page, "next")
  if (is.null(link)) break
  page <- ask(sub(base, "", link, fixed = TRUE)) |> req_perform()
}
same("pages", numbers, frame$no)

flag <- list(type = "flag", content = list(type = "flag", flagType = "outlier", text = "too high"))
flagged <- table(columns = "id,no", filters = json(list(list(column = "y", operator = "greater_than", value = 25))))
done <- ask(paste0(data, "/annotations/bulk")) |>
  req_body_json(list(tableName = "frame", rowIds = as.list(flagged$id), annotation = flag)) |>
  req_perform()
stopifnot(resp_status(done) == 201)
same("flagged", many(column = "annotations", operator = "has_flag", value = "outlier"), sum(frame$y > 25, na.rm = TRUE))
again <- ask(data) |>
  req_url_query(tableName = "frame", format = "csv") |>
  req_headers("If-None-Match" = resp_header(read(format = "csv"), "ETag")) |>
  req_perform()
stopifnot(resp_status(again) == 304)
cat("done\n")
