# Runs e1071's own examples of support vector machines with e1071 and with maxmargin in its place,
# and shows how their output differs: `Rscript benchmarks/examples.R`.
folder <- tempfile()
dir.create(folder)
pages <- tools::Rd_db("e1071")
for (page in c("svm", "predict.svm", "plot.svm", "tune", "plot.tune", "write.svm")) {
  source <- file.path(folder, "example.R")
  tools::Rd2ex(pages[[paste0(page, ".Rd")]], source)
  example <- readLines(source)
  outputs <- character()
  for (package in c("e1071", "maxmargin")) {
    script <- file.path(folder, paste0(package, ".R"))
    output <- file.path(folder, paste0(package, ".out"))
    writeLines(c("set.seed(1)", "options(digits = 5)", example), script)
    call <- sprintf("suppressMessages(library(%s)); source('%s', echo = TRUE, max.deparse.length = Inf, spaced = FALSE)",
                    package, script)
    status <- system2("Rscript", c("--vanilla", "-e", shQuote(call)), stdout = output, stderr = output,
                      env = paste0("R_DEFAULT_DEVICE=pdf R_LIBS=", paste(.libPaths(), collapse = ":")))
    if (status != 0) cat("?", page, ": ends with an error in ", package, "\n", sep = "")
    outputs[package] <- output
  }
  cat("?", page, ":\n", sep = "")
  writeLines(suppressWarnings(system2("diff", outputs, stdout = TRUE)))
}
unlink(folder, recursive = TRUE)
