# Writes each page of an R package's manual as HTML: Rscript rd.R MANUAL OUT. Links are those between these pages.

arguments <- commandArgs(trailingOnly = TRUE)
files <- list.files(arguments[[1]], pattern = "[.]Rd$", full.names = TRUE)
page_of <- function(file) sub("[.]Rd$", ".html", basename(file))

links <- character()
for (file in files) {
  for (part in tools::parse_Rd(file)) {
    if (attr(part, "Rd_tag") == "\\alias") links[trimws(as.character(part[[1]]))] <- page_of(file)
  }
}
for (file in files) {
  out <- file.path(arguments[[2]], page_of(file))
  # The package need not be installed; pages of others have no address here.
  suppressWarnings(
    tools::Rd2HTML(file, out = out, package = "maxmargin", Links = links, Links2 = c(none = "none"), dynamic = FALSE)
  )
  # Links to help pages of other packages become their text.
  html <- readLines(out, encoding = "UTF-8")
  html <- gsub("<a href=\"[^\"]*[.][.]/[^\"]*\">([^<]*)</a>", "\\1", html)
  writeLines(html, out, useBytes = TRUE)
}
