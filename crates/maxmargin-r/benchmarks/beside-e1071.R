# Trainings beside e1071: `Rscript benchmarks/beside-e1071.R`, with both packages installed. Both
# train to the same tolerance; times are the best of three, in seconds.
library(maxmargin)

best_of <- function(expression, times = 3) {
  min(vapply(seq_len(times), function(i) system.time(eval.parent(expression))[["elapsed"]], 0))
}

made <- function(n, p, noise) {
  x <- matrix(rnorm(n * p), n)
  y <- factor(ifelse(rowSums(x[, 1:3]^2) + rnorm(n, sd = noise) > 3, "out", "in"))
  list(x = x, y = y)
}

set.seed(1)
small <- made(2000, 10, 0.5)
large <- made(10000, 20, 0.5)
numbers <- list(x = large$x[1:5000, ], y = sin(large$x[1:5000, 1]) + large$x[1:5000, 2]^2 + rnorm(5000, sd = 0.1))
cases <- list(
  "iris" = list(quote(f(Species ~ ., iris))),
  "2,000 x 10" = list(quote(f(small$x, small$y))),
  "2,000 x 10, cost 1000" = list(quote(f(small$x, small$y, cost = 1000))),
  "2,000 x 10, cross = 10" = list(quote(f(small$x, small$y, cross = 10))),
  "10,000 x 20" = list(quote(f(large$x, large$y))),
  "5,000 x 20, regression" = list(quote(f(numbers$x, numbers$y))),
  "2,000 x 10, 5 x 5 combinations, 5 folds" = list(
    quote(tune_svm(small$x, small$y, cost = 10^(-1:3), gamma = 10^(-3:1), cross = 5, best.model = FALSE)),
    quote(e1071::tune.svm(small$x, small$y, cost = 10^(-1:3), gamma = 10^(-3:1),
                          tunecontrol = e1071::tune.control(cross = 5, best.model = FALSE)))
  )
)
cat(sprintf("%-42s %10s %10s %8s\n", "", "maxmargin", "e1071", "ratio"))
for (name in names(cases)) {
  case <- cases[[name]]
  times <- if (length(case) == 2) 1 else 3
  f <- svm
  ours <- best_of(case[[1]], times)
  f <- e1071::svm
  theirs <- best_of(case[[length(case)]], times)
  cat(sprintf("%-42s %10.3f %10.3f %8.1f\n", name, ours, theirs, theirs / ours))
}
