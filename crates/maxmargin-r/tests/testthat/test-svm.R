test_that("classification is e1071's: iris, glass, cats", {
  skip_if_not_installed("e1071")
  skip_if_not_installed("MASS")
  sets <- list(list(Species ~ ., iris), list(type ~ ., MASS::fgl), list(Sex ~ Bwt + Hwt, MASS::cats))
  for (set in sets) for (kernel in c("linear", "polynomial", "radial", "sigmoid")) {
    ours <- svm(set[[1]], set[[2]], kernel = kernel, tolerance = exact)
    theirs <- e1071::svm(set[[1]], set[[2]], kernel = kernel, tolerance = exact)
    # The sigmoid kernel is indefinite: its stationary points are several.
    if (kernel == "sigmoid") {
      expect_true(all(ours$certificate$kkt <= exact))
      next
    }
    expect_same_model(ours, theirs, set[[2]], 1e-4)
    expect_equal(ours$nSV, theirs$nSV)
    expect_equal(ours$index, theirs$index)
    expect_equal(ours$rho, theirs$rho, tolerance = 1e-4)
    expect_equal(unname(ours$coefs), theirs$coefs, tolerance = 1e-3)
    expect_equal(ours$SV, theirs$SV)
    expect_same_labels(ours$fitted, theirs$fitted, ours$decision.values)
  }
})

test_that("regression is e1071's", {
  skip_if_not_installed("e1071")
  for (type in c("eps-regression", "nu-regression")) {
    ours <- svm(dist ~ speed, cars, type = type, tolerance = exact)
    theirs <- e1071::svm(dist ~ speed, cars, type = type, tolerance = exact)
    expect_same_model(ours, theirs, cars, 1e-3)
    expect_equal(ours$fitted, theirs$fitted, tolerance = 1e-3)
    expect_equal(residuals(ours), residuals(theirs), tolerance = 1e-2)
  }
})

test_that("nu-classification and one class are e1071's", {
  skip_if_not_installed("e1071")
  ours <- svm(Species ~ ., iris, type = "nu-classification", nu = 0.3, tolerance = 1e-5)
  theirs <- e1071::svm(Species ~ ., iris, type = "nu-classification", nu = 0.3, tolerance = 1e-5)
  expect_same_model(ours, theirs, iris, 1e-2)
  ours <- svm(iris[, 1:4], nu = 0.2, tolerance = 1e-6)
  theirs <- e1071::svm(iris[, 1:4], nu = 0.2, tolerance = 1e-6)
  expect_same_model(ours, theirs, iris, 1e-2)
  expect_type(ours$fitted, "logical")
  clear <- abs(ours$decision.values[, 1]) > 1e-2
  expect_equal(ours$fitted[clear], theirs$fitted[clear])
})

test_that("the interface without a formula is e1071's", {
  skip_if_not_installed("e1071")
  x <- as.matrix(iris[, 1:4])
  for (y in list(iris$Species, as.integer(iris$Species), iris$Sepal.Length)) {
    type <- if (is.integer(y)) "C" else NULL
    ours <- svm(x[, 2:4], y, type = type, cost = 3, gamma = 0.2, tolerance = 1e-6)
    theirs <- e1071::svm(x[, 2:4], y, type = type, cost = 3, gamma = 0.2, tolerance = 1e-6)
    expect_same_model(ours, theirs, x, 1e-3)
    expect_equal(predict(ours, x[1:9, 2:4]), predict(theirs, x[1:9, 2:4]), tolerance = 1e-3)
  }
  # A vector is one column with gamma 1.
  expect_equal(svm(cars$speed, cars$dist)$gamma, 1)
})

test_that("class weights are those of levels", {
  skip_if_not_installed("e1071")
  weights <- c(virginica = 5, setosa = 0.5)
  ours <- svm(Species ~ ., iris, class.weights = weights, tolerance = exact)
  theirs <- e1071::svm(Species ~ ., iris, class.weights = weights, tolerance = exact)
  expect_same_model(ours, theirs, iris, 1e-4)
  data <- iris[c(1:50, 51:60, 101:130), ]
  ours <- svm(Species ~ ., data, class.weights = "inverse", tolerance = exact)
  theirs <- e1071::svm(Species ~ ., data, class.weights = "inverse", tolerance = exact)
  expect_same_model(ours, theirs, data, 1e-4)
  expect_error(svm(Species ~ ., iris, class.weights = c(setoza = 2)), "setoza")
  expect_error(svm(Species ~ ., iris, class.weights = c(1, 2, 3)), "names of levels")
  expect_error(svm(Species ~ ., iris, class.weights = c(setosa = 1, setosa = 2)), "two weights of level .setosa")
  expect_warning(svm(dist ~ speed, cars, class.weights = c(a = 1)), "not used")
})

# It was refused as no finite numbers.
test_that("a list of class weights is a vector", {
  listed <- svm(Species ~ ., iris, class.weights = list(setosa = 2, virginica = 0.5))
  expect_identical(listed$coefs, svm(Species ~ ., iris, class.weights = c(setosa = 2, virginica = 0.5))$coefs)
  expect_error(svm(Species ~ ., iris, class.weights = list(setosa = "a")), "finite numbers")
})

test_that("a nu without a margin is warned of", {
  x <- matrix(rep(1:4, each = 20))
  y <- factor(rep(c("a", "b"), 40))
  expect_warning(svm(x, y, type = "nu-classification", nu = 0.2, scale = FALSE), "no margin is left")
  expect_silent(svm(x + 10 * (y == "b"), y, type = "nu-classification", nu = 0.2, scale = FALSE))
})

test_that("a sample of weight 2 is two samples", {
  set.seed(1)
  twice <- sample(150, 40)
  weights <- ifelse(seq_len(150) %in% twice, 2, 1)
  weighted <- svm(Species ~ ., iris, weights = weights, tolerance = exact, scale = FALSE)
  doubled <- svm(Species ~ ., iris[c(1:150, twice), ], tolerance = exact, scale = FALSE)
  expect_lt(max(abs(weighted$decision.values - doubled$decision.values[1:150, ])), 1e-4)
  matrix <- svm(as.matrix(iris[, 1:4]), iris$Species, weights = weights, tolerance = exact, scale = FALSE)
  expect_equal(unname(matrix$decision.values), unname(weighted$decision.values))
  expect_error(svm(iris[, 1:4], iris$Species, weights = -weights), "0 or more")
  expect_error(svm(iris[, 1:4], iris$Species, weights = 1:3), "150 rows")
})

test_that("factors become columns that are not scaled", {
  skip_if_not_installed("e1071")
  data <- transform(mtcars, cyl = factor(cyl), am = am == 1)
  ours <- svm(mpg ~ cyl + am + hp + wt:qsec, data, tolerance = exact)
  theirs <- e1071::svm(mpg ~ cyl + am + hp + wt:qsec, data, tolerance = exact)
  expect_same_model(ours, theirs, data, 1e-4)
  expect_equal(ours$gamma, 1 / ncol(ours$SV))
  expect_equal(predict(ours, data[3:9, ]), predict(theirs, data[3:9, ]), tolerance = 1e-4)
  # One row has all columns, and its level may be text.
  row <- transform(data[5, ], cyl = as.character(cyl))
  expect_equal(predict(ours, row), predict(ours, data)[5])
  row$cyl <- "5"
  expect_error(predict(ours, row), "new level")
})

test_that("missing values are left out, or kept as NA", {
  skip_if_not_installed("e1071")
  for (na.action in list(na.omit, na.exclude)) {
    ours <- svm(Ozone ~ ., airquality, na.action = na.action, tolerance = exact)
    theirs <- e1071::svm(Ozone ~ ., airquality, na.action = na.action, tolerance = exact)
    expect_same_model(ours, theirs, airquality, 1e-4)
    expect_equal(fitted(ours), fitted(theirs), tolerance = 1e-4)
    expect_equal(residuals(ours), residuals(theirs), tolerance = 1e-4)
    expect_equal(ours$na.action, theirs$na.action)
    for (again in list(na.omit, na.exclude)) {
      mine <- predict(ours, airquality, decision.values = TRUE, na.action = again)
      other <- predict(theirs, airquality, decision.values = TRUE, na.action = again)
      expect_equal(mine, other, tolerance = 1e-4)
    }
  }
  x <- airquality[, 2:4]
  ours <- svm(x, airquality$Ozone, tolerance = exact)
  theirs <- e1071::svm(x, airquality$Ozone, tolerance = exact)
  expect_equal(ours$fitted, theirs$fitted, tolerance = 1e-4)
  expect_error(svm(Ozone ~ ., airquality, na.action = na.fail), "missing values")
  expect_error(svm(x, airquality$Month, na.action = na.pass), "finite")
})

test_that("a subset is trained on", {
  skip_if_not_installed("e1071")
  rows <- c(1:30, 60:90, 110:140)
  ours <- svm(Species ~ ., iris, subset = rows, tolerance = exact)
  theirs <- e1071::svm(Species ~ ., iris, subset = rows, tolerance = exact)
  expect_same_model(ours, theirs, iris, 1e-4)
  ours <- svm(iris[, 1:4], iris$Species, subset = rows, tolerance = exact)
  expect_equal(unname(ours$decision.values), unname(theirs$decision.values), tolerance = 1e-4)
  petals <- svm(Species ~ ., iris, subset = Petal.Length > 2)
  expect_equal(petals$nclasses, 2)
  expect_equal(petals$levels, levels(iris$Species))
})

test_that("a constant column is a warning, and nothing is scaled", {
  data <- cbind(iris, constant = 3)
  expect_warning(model <- svm(Species ~ ., data), "constant. Cannot scale")
  expect_false(any(model$scaled))
  expect_null(model$x.scale)
})

test_that("columns can be scaled one by one", {
  skip_if_not_installed("e1071")
  scale <- c(TRUE, FALSE, TRUE, FALSE)
  ours <- svm(iris[, 1:4], iris$Species, scale = scale, tolerance = exact)
  theirs <- e1071::svm(iris[, 1:4], iris$Species, scale = scale, tolerance = exact)
  expect_same_model(ours, theirs, iris, 1e-4)
  expect_equal(predict(ours, iris[1:5, 1:4]), predict(theirs, iris[1:5, 1:4]))
})

# Values were once repeated over the terms.
test_that("scale has one value, or one for each term of a formula", {
  skip_if_not_installed("e1071")
  data <- transform(mtcars, cyl = factor(cyl))
  for (scale in list(c(TRUE, FALSE, TRUE), c(FALSE, TRUE, TRUE), TRUE)) {
    theirs <- e1071::svm(mpg ~ hp + cyl + wt, data, scale = scale)
    expect_identical(svm(mpg ~ hp + cyl + wt, data, scale = scale)$scaled, theirs$scaled)
  }
  expect_error(svm(Species ~ ., iris, scale = c(TRUE, FALSE)), "scale has 2 values, and the formula has 4 terms")
  expect_error(svm(mpg ~ hp + cyl + wt, data, scale = rep(TRUE, 5)), "scale has 5 values, and the formula has 3 terms")
  expect_error(tune_svm(Species ~ ., data = iris, cost = 1, scale = c(TRUE, FALSE)), "the formula has 4 terms")
})

test_that("folds and scores of cross are e1071's", {
  skip_if_not_installed("e1071")
  set.seed(7)
  ours <- svm(Species ~ ., iris, cross = 7, tolerance = 1e-5)
  set.seed(7)
  theirs <- e1071::svm(Species ~ ., iris, cross = 7, tolerance = 1e-5)
  expect_equal(ours$accuracies, theirs$accuracies)
  expect_equal(ours$tot.accuracy, theirs$tot.accuracy)
  expect_true(all(ours$cross.certificates$holds))
  set.seed(7)
  ours <- svm(dist ~ speed, cars, cross = 5, tolerance = 1e-6)
  set.seed(7)
  theirs <- e1071::svm(dist ~ speed, cars, cross = 5, tolerance = 1e-6)
  expect_equal(ours$MSE, theirs$MSE, tolerance = 1e-3)
  expect_equal(ours$tot.MSE, as.vector(theirs$tot.MSE), tolerance = 1e-3)
  expect_equal(ours$scorrcoeff, theirs$scorrcoeff, tolerance = 1e-3)
  expect_error(svm(Species ~ ., iris, cross = 151), "cannot exceed")
})

test_that("bad arguments are errors that name them", {
  expect_error(svm(Species ~ ., iris, kernel = "gauss"), "wrong kernel specification")
  expect_error(svm(Species ~ ., iris, type = "D"), "wrong type specification")
  expect_error(svm(Species ~ ., iris, cost = NULL), "cost")
  expect_error(svm(Species ~ ., iris, cost = -1), "C <= 0")
  expect_error(svm(Species ~ ., iris, type = "nu-classification", nu = 2), "nu")
  expect_error(svm(iris[, 1:4], iris$Species[1:9]), "150 rows")
  expect_error(svm(iris, iris$Species), "Species")
  expect_error(svm(iris[1:50, 1:4], iris$Species[1:50]), "two classes")
  expect_error(svm(iris[, 1:4], as.character(iris$Species), type = "eps"), "numeric response")
})

test_that("a response may be a table of one column", {
  model <- svm(iris[, 1:4], iris[, 5, drop = FALSE])
  expect_identical(fitted(model), fitted(svm(iris[, 1:4], iris$Species)))
  expect_identical(tune_svm(iris[, 1:4], iris[, 5, drop = FALSE], cost = 1, cross = 3)$measure, "share of wrong classes")
})

test_that("a column whose deviation is 0 is constant", {
  tiny <- transform(cars, tiny = speed * 1e-170)
  expect_warning(svm(dist ~ speed + tiny, tiny), "'tiny' constant|constant. Cannot scale")
})

test_that("inverse weights leave out levels without a sample", {
  model <- svm(Species ~ ., iris, subset = Species != "setosa", class.weights = "inverse")
  expect_true(all(certificate(model)$holds))
})

test_that("na.action may fill in values", {
  air <- airquality[!is.na(airquality$Ozone), c("Ozone", "Solar.R", "Wind")]
  fill <- function(frame) {
    frame[is.na(frame)] <- 0
    frame
  }
  filled <- transform(air, Solar.R = ifelse(is.na(Solar.R), 0, Solar.R))
  expected <- unname(fitted(svm(Ozone ~ ., filled)))
  expect_identical(unname(fitted(svm(Ozone ~ ., air, na.action = fill))), expected)
  expect_identical(unname(fitted(svm(as.matrix(air[, 2:3]), air$Ozone, na.action = fill))), expected)
})
