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

# The labels were once ignored, and the errors were shares of outliers.
test_that("errors of one class are measured against y", {
  skip_if_not_installed("e1071")
  member <- iris$Species == "setosa"
  nu <- c(0.1, 0.5, 0.9)
  set.seed(1)
  theirs <- e1071::tune.svm(iris[, 1:4], member, type = "one-classification", nu = nu)
  for (y in list(member, factor(member), ifelse(member, 1, -1), factor(ifelse(member, 1, -1)))) {
    set.seed(1)
    ours <- tune.svm(iris[, 1:4], y, type = "one-classification", nu = nu)
    # A sample near the boundary may be on either side.
    expect_lt(max(abs(ours$performances$error - theirs$performances$error)), 1.5 / 150)
  }
  expect_output(print(ours), "differs from y")
  # Rows that are left out have no label.
  some <- member
  some[3] <- NA
  data <- data.frame(iris[, 1:4], member = some)
  found <- lapply(1:2, function(form) {
    set.seed(1)
    if (form == 1) return(tune_svm(member ~ ., data = data, type = "one-classification", nu = nu))
    tune_svm(iris[, 1:4], some, type = "one-classification", nu = nu)
  })
  expect_identical(found[[1]]$performances, found[[2]]$performances)
  expect_length(unlist(found[[1]]$train.ind), 9 * 149)
  expect_error(tune_svm(Species ~ ., data = iris, type = "one-classification"), "TRUE or FALSE.*setosa")
  alone <- tune_svm(iris[, 1:4], nu = nu)
  expect_match(alone$measure, "outside the class")
  expect_output(print(alone), "there is no y")
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
