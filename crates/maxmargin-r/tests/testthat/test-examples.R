test_that("e1071's examples run with maxmargin in its place", {
  # The examples of ?svm, ?predict.svm, ?plot.svm and ?tune in e1071, in this package's terms.
  attach(iris, warn.conflicts = FALSE)
  on.exit(detach(iris))
  model <- svm(Species ~ ., data = iris)
  x <- subset(iris, select = -Species)
  y <- Species
  model <- svm(x, y)
  pred <- predict(model, x)
  expect_identical(pred, fitted(model))
  expect_gt(sum(diag(table(pred, y))), 140)
  pred <- predict(model, x, decision.values = TRUE)
  expect_identical(dim(attr(pred, "decision.values")), c(150L, 3L))

  # try regression mode on two dimensions
  x <- seq(0.1, 5, by = 0.05)
  set.seed(1)
  y <- log(x) + rnorm(x, sd = 0.2)
  m <- svm(x, y)
  new <- predict(m, x)
  expect_length(new, length(x))

  # density-estimation
  X <- data.frame(a = rnorm(1000), b = rnorm(1000))
  m <- svm(X, gamma = 0.1)
  m <- svm(~ ., data = X, gamma = 0.1)
  m <- svm(~ a + b, gamma = 0.1, data = X)
  newdata <- data.frame(a = c(0, 4), b = c(0, 4))
  expect_identical(unname(predict(m, newdata)), c(TRUE, FALSE))

  # weights: (example not particularly sensible)
  i2 <- iris
  levels(i2$Species)[3] <- "versicolor"
  wts <- 100 / table(i2$Species)
  m <- svm(Species ~ ., data = i2, class.weights = wts)
  expect_identical(m$nclasses, 2L)

  # extract coefficients for linear kernel
  x <- 1:100
  y <- x + rnorm(100)
  m <- svm(y ~ x, scale = FALSE, kernel = "linear")
  expect_equal(coef(m)[["x"]], 1, tolerance = 0.02)

  # a formula with a transformed response, and newdata of one row
  m <- svm(log(dist) ~ speed, data = cars)
  expect_length(predict(m, data.frame(speed = 10)), 1)
})
