test_that("predictions of new data are e1071's", {
  skip_if_not_installed("e1071")
  train <- seq(1, 150, 2)
  ours <- svm(Species ~ ., iris, subset = train, tolerance = exact)
  theirs <- e1071::svm(Species ~ ., iris, subset = train, tolerance = exact)
  mine <- predict(ours, iris[-train, ], decision.values = TRUE)
  other <- predict(theirs, iris[-train, ], decision.values = TRUE)
  expect_equal(attr(mine, "decision.values"), attr(other, "decision.values"), tolerance = 1e-4)
  expect_identical(c(mine), c(other))
  expect_identical(names(mine), names(other))
  expect_identical(predict(ours, as.matrix(iris[-train, 1:4])), predict(ours, iris[-train, ]))
  expect_identical(predict(ours), fitted(ours))
})

test_that("e1071's predict reads the object", {
  skip_if_not_installed("e1071")
  theirs <- utils::getFromNamespace("predict.svm", "e1071")
  model <- svm(Species ~ ., iris, probability = TRUE)
  own <- predict(model, iris, decision.values = TRUE, probability = TRUE)
  other <- theirs(model, iris, decision.values = TRUE, probability = TRUE)
  expect_equal(attr(own, "decision.values"), attr(other, "decision.values"), tolerance = 1e-6)
  expect_equal(attr(own, "probabilities"), attr(other, "probabilities"), tolerance = 1e-3)
  expect_equal(c(own), c(other))
  model <- svm(dist ~ speed, cars, kernel = "linear")
  expect_equal(predict(model, cars), theirs(model, cars), tolerance = 1e-6)
})

test_that("probabilities are near e1071's", {
  skip_if_not_installed("e1071")
  set.seed(1)
  ours <- svm(Species ~ ., iris, probability = TRUE)
  theirs <- e1071::svm(Species ~ ., iris, probability = TRUE)
  mine <- attr(predict(ours, iris, probability = TRUE), "probabilities")
  other <- attr(predict(theirs, iris, probability = TRUE), "probabilities")
  expect_identical(dimnames(mine), dimnames(other))
  expect_equal(rowSums(mine), setNames(rep(1, 150), 1:150))
  # Sigmoids of other folds.
  expect_lt(mean(abs(mine - other)), 0.02)
  expect_identical(predict(ours, iris, probability = TRUE),
                   structure(factor(colnames(mine)[max.col(mine)], levels(iris$Species)), names = rownames(mine),
                             probabilities = mine))
  expect_length(ours$probA, 3)
  two <- svm(Species ~ ., iris, subset = 51:150, probability = TRUE)
  chances <- attr(predict(two, iris[c(60, 120), ], probability = TRUE), "probabilities")
  expect_identical(colnames(chances), c("versicolor", "virginica"))
  expect_gt(chances[1, 1], 0.5)
  expect_warning(predict(svm(Species ~ ., iris), iris, probability = TRUE), "has not been trained")
})

test_that("two classes have the sign of the first label", {
  skip_if_not_installed("e1071")
  for (rows in list(51:150, 150:51)) {
    ours <- svm(Species ~ ., iris[rows, ], tolerance = exact)
    theirs <- e1071::svm(Species ~ ., iris[rows, ], tolerance = exact)
    expect_same_model(ours, theirs, iris, 1e-4)
  }
})

test_that("other data are errors", {
  model <- svm(iris[, 1:4], iris$Species)
  expect_error(predict(model, iris[, 1:3]), "does not match model")
  expect_error(predict(svm(Species ~ ., iris), data.frame(Sepal.Length = 1)), "not found")
})

test_that("a model survives a file", {
  model <- svm(Species ~ ., iris, probability = TRUE)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(model, file)
  again <- readRDS(file)
  expect_identical(predict(again, iris, probability = TRUE), predict(model, iris, probability = TRUE))
  expect_true(verify(again)$met)
})

test_that("coefficients are the hyperplane's", {
  model <- svm(Sepal.Length ~ Sepal.Width + Petal.Length, iris, kernel = "linear", scale = FALSE)
  weights <- coef(model)
  expect_named(weights, c("(Intercept)", "Sepal.Width", "Petal.Length"))
  values <- weights[1] + as.matrix(iris[, c("Sepal.Width", "Petal.Length")]) %*% weights[-1]
  expect_equal(unname(values[, 1]), unname(fitted(model)), tolerance = 1e-6)
  expect_error(coef(svm(Species ~ ., iris)), "linear")
})

test_that("sparse rows of all kinds are e1071's", {
  skip_if_not_installed("e1071")
  skip_if_not_installed("SparseM")
  set.seed(3)
  dense <- matrix(rbinom(60 * 12, 1, 0.3) * rnorm(720), 60)
  y <- factor(ifelse(dense[, 1] + dense[, 2] > 0.1, "yes", "no"))
  theirs <- e1071::svm(SparseM::as.matrix.csr(dense), y, tolerance = exact)
  triplets <- which(dense != 0, arr.ind = TRUE)
  slam <- structure(list(i = triplets[, 1], j = triplets[, 2], v = dense[triplets], nrow = 60L, ncol = 12L),
                    class = "simple_triplet_matrix")
  column <- Matrix::Matrix(dense, sparse = TRUE)
  kinds <- list(column, as(column, "RsparseMatrix"), as(column, "TsparseMatrix"), SparseM::as.matrix.csr(dense), slam)
  for (x in kinds) {
    ours <- svm(x, y, tolerance = exact)
    expect_true(ours$sparse)
    expect_equal(unname(ours$decision.values), unname(theirs$decision.values), tolerance = 1e-4)
    expect_equal(as.matrix(ours$SV), dense[ours$index, ])
    expect_identical(unname(predict(ours, x)), unname(ours$fitted))
    expect_identical(unname(predict(ours, dense)), unname(ours$fitted))
  }
  expect_true(verify(ours)$met)
})

test_that("a subset and rows without a weight are verified from the data that svm took", {
  rows <- iris$Species != "setosa"
  models <- list(svm(Species ~ ., iris, subset = Species != "setosa"), svm(iris[, 1:4], iris$Species, subset = rows))
  expect_true(verify(models[[1]], iris)$matches)
  expect_true(verify(models[[2]], iris[, 1:4], iris$Species)$matches)
  air <- na.omit(airquality)
  air$weight <- replace(rep(1, nrow(air)), 3, NA)
  model <- svm(Ozone ~ Wind + Temp, air, weights = weight)
  expect_true(verify(model, air)$matches)
  expect_false(verify(model, transform(air, Wind = rev(Wind)))$matches)
  expect_null(svm(Species ~ ., iris)$trained)
  expect_null(update_svm(models[[1]], remove = 1)$trained)
})

test_that("rows that were left out before are not left out again", {
  air <- na.omit(airquality)
  model <- svm(Ozone ~ Wind + Temp, air)
  expect_length(predict(model, air), nrow(air))
  for (na.action in c(na.omit, na.exclude)) {
    before <- na.action(airquality)
    expect_length(predict(model, before, na.action = na.action), nrow(before))
  }
  air$Wind[3] <- NA
  expect_length(predict(model, air), nrow(air) - 1)
  expect_identical(unname(is.na(predict(model, air, na.action = na.exclude)))[1:4], c(FALSE, FALSE, TRUE, FALSE))
})

test_that("no rows have no predictions", {
  model <- svm(Species ~ ., iris)
  found <- predict(model, iris[0, ], decision.values = TRUE)
  expect_length(found, 0)
  expect_identical(dim(attr(found, "decision.values")), c(0L, 3L))
})

test_that("explanations look at the variables of the model", {
  model <- svm(Ozone ~ Wind + Temp, na.omit(airquality))
  expect_identical(dimnames(explain(model, airquality[5, ])$values)[[1]], c("Wind", "Temp"))
  expect_error(explain(model, transform(airquality[5, ], Wind = NA)), "missing values")
})
