# Writes files as R does.
folder <- commandArgs(trailingOnly = TRUE)[1]
n <- 60
at <- as.POSIXct("2026-04-01 06:30:15", tz = "UTC") + 86400 * (0:(n - 1))
frame <- data.frame(
  plot = 1:n, phi2 = round(0.5 + 0.31 * (0:(n - 1)), 2), genotype = rep(c("B73", "Mo17"), n / 2),
  healthy = rep(c(TRUE, FALSE, NA), n / 3), day = as.Date(at), at = format(at, "%Y-%m-%d %H:%M:%S")
)
frame$phi2[4] <- NA
frame$genotype[6] <- NA
path <- function(name) file.path(folder, name)
write.csv(frame, path("r.csv"), row.names = FALSE)
write.csv(frame, path("r-rownames.csv"))
write.csv2(frame, path("r2.csv"), row.names = FALSE)
write.table(frame, path("r.tsv"), sep = "\t", row.names = FALSE, quote = FALSE)
write.csv(frame, path("r-empty.csv"), row.names = FALSE, na = "")
wide <- frame
wide$phi2 <- format(wide$phi2, nsmall = 2, width = 10)
write.csv(wide, path("r-padded.csv"), row.names = FALSE, quote = FALSE)
