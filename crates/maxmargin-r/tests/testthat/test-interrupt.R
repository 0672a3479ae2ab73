# Waits are counted, not seconds: a wait lasts `interrupt_interval` at most, and 0.2 s are promised.
test_that("an interrupt ends a training within four waits, and its work with it", {
  skip_on_os("windows")
  original <- result_of
  seen <- new.env()
  seen$waits <- 0L
  # Sends the signal of Ctrl-C in the second wait.
  watched <- function(job) {
    seen$job <- job
    wait <- function(milliseconds) {
      seen$waits <- seen$waits + 1L
      if (seen$waits == 2L) tools::pskill(Sys.getpid(), tools::SIGINT)
      job$wait(milliseconds)
    }
    original(list(wait = wait, cancel = job$cancel, take = job$take))
  }
  replace <- function(with) utils::assignInNamespace("result_of", with, "maxmargin")
  replace(watched)
  on.exit(replace(original))
  # Random labels at this cost are the work of minutes.
  x <- matrix(sin(seq_len(20000)^2), 2000)
  y <- factor(ifelse(cos(seq_len(2000)^3) > 0, "a", "b"))
  ended <- tryCatch(svm(x, y, cost = 1e8, gamma = 0.01, tolerance = 1e-12), interrupt = function(condition) "interrupted")
  expect_identical(ended, "interrupted")
  expect_lte(seen$waits, 4L)
  expect_lte(4 * interrupt_interval, 200)
  # The cancelled work ends at its next check, long before it is done.
  expect_true(tryCatch(seen$job$wait(60000L), error = function(condition) grepl("cancel", conditionMessage(condition))))
  # The engine goes on with the next training.
  replace(original)
  expect_true(all(certificate(svm(Species ~ ., iris))$holds))
})
