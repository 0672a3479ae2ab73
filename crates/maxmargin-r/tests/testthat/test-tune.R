test_that("a search has the errors of e1071's over the same folds", {
  skip_if_not_installed("e1071")
  grid <- list(gamma = 2^(-3:0), cost = 2^(0:3))
  set.seed(4)
  ours <- tune_svm(Species ~ ., data = iris, gamma = grid$gamma, cost = grid$cost, scale = FALSE, cross = 5)
  set.seed(4)
  theirs <- e1071::tune.svm(Species ~ ., data = iris, gamma = grid$gamma, cost = grid$cost, scale = FALSE,
                            tunecontrol = e1071::tune.control(cross = 5))
  expect_equal(ours$performances[, c("gamma", "cost")], theirs$performances[, c("gamma", "cost")])
  # A sample near the boundary may be on either side.
  expect_lt(max(abs(ours$performances$error - theirs$performances$error)), 1.5 / 150)
  expect_lt(mean(abs(ours$performances$error - theirs$performances$error) > 1e-9), 0.3)
  expect_true(all(ours$performances$kkt <= 1e-3))
  expect_identical(names(ours$best.parameters), c("gamma", "cost"))
  expect_equal(ours$best.performance, min(ours$performances$error))
  expect_equal(ours$best.model$cost, ours$best.parameters$cost)
  expect_equal(lapply(ours$train.ind, sort), lapply(theirs$train.ind, sort), ignore_attr = TRUE)
  expect_output(print(summary(ours)), "best parameters")
})

test_that("other parameters, regression, and one validation", {
  skip_if_not_installed("e1071")
  set.seed(2)
  ours <- tune_svm(dist ~ speed, data = cars, epsilon = c(0.1, 0.5), cost = c(1, 4), scale = FALSE, cross = 4)
  set.seed(2)
  theirs <- e1071::tune.svm(dist ~ speed, data = cars, epsilon = c(0.1, 0.5), cost = c(1, 4), scale = FALSE,
                            tunecontrol = e1071::tune.control(cross = 4))
  # Both have combinations in the order of `expand.grid`, over other orders of parameters.
  key <- function(table) table[order(table$epsilon, table$cost), ]
  expect_equal(key(ours$performances)$error, key(theirs$performances)$error, tolerance = 1e-2)
  degrees <- tune_svm(iris[, 1:4], iris$Species, kernel = "polynomial", degree = 1:3, coef0 = 0:1, cost = c(1, 10))
  expect_identical(nrow(degrees$performances), 12L)
  expect_false(anyNA(degrees$performances))
  set.seed(3)
  fixed <- tune_svm(Species ~ ., data = iris, cost = 1:3, tunecontrol = e1071::tune.control(sampling = "fix"))
  expect_length(fixed$train.ind[[1]], 100)
  one <- tune_svm(iris[, 1:4], nu = c(0.1, 0.5), gamma = c(0.1, 1))
  expect_lt(one$performances$error[1], one$performances$error[2])
  expect_error(tune_svm(Species ~ ., data = iris, cost = 1, cross = 1), "cross")
})

test_that("class weights and subsets belong to a search", {
  found <- tune_svm(Species ~ ., data = iris, subset = Sepal.Length > 5, cost = c(1, 2), class.weights = c(virginica = 3))
  expect_identical(length(unlist(found$train.ind)), 9L * sum(iris$Sepal.Length > 5))
  expect_identical(nrow(found$performances), 2L)
})

test_that("e1071's names and its tune() work", {
  skip_if_not_installed("e1071")
  set.seed(1)
  found <- tune.svm(Species ~ ., data = iris, gamma = c(0.1, 1), cost = c(1, 10), tunecontrol = tune.control(cross = 3))
  set.seed(1)
  expect_equal(best.svm(Species ~ ., data = iris, gamma = c(0.1, 1), cost = c(1, 10), tunecontrol = tune.control(cross = 3))$cost,
               found$best.parameters$cost)
  expect_error(tune_svm(Species ~ ., data = iris, cost = 1:2, tunecontrol = tune.control(sampling = "boot")), "sampling")
  expect_error(tune_svm(Species ~ ., data = iris, cost = 1:2, tunecontrol = tune.control(nrepeat = 3)), "nrepeat")
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  expect_null(plot(found))
  expect_null(plot(tune_svm(dist ~ speed, data = cars, cost = 1:3, cross = 3)))
})
