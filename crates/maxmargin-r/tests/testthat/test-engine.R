test_that("every model has a certificate, and is what it claims", {
  model <- svm(Species ~ ., iris, tolerance = 1e-6)
  table <- certificate(model)
  expect_s3_class(table, "data.frame")
  expect_identical(table$machine, c("setosa/versicolor", "setosa/virginica", "versicolor/virginica"))
  expect_true(all(table$holds) && all(table$kkt <= 1e-6) && all(table$primal >= table$dual - 1e-9))
  verdict <- verify(model)
  expect_true(verdict$matches && verdict$met)
  expect_true(verify(model, iris)$met)
  expect_equal(verdict$certificate$primal, table$primal)
  other <- iris
  other[1, 1] <- other[1, 1] + 1
  expect_false(verify(model, other)$matches)
  expect_true(verify(svm(iris[, 1:4], iris$Species), iris[, 1:4], iris$Species)$met)
  expect_true(verify(svm(dist ~ speed, cars))$met)
  expect_true(verify(svm(dist ~ speed, cars, kernel = "linear"), cars)$met)
  expect_true(verify(svm(iris[, 1:4]))$met)
  expect_error(verify(svm(Species ~ ., iris, keep = FALSE)), "keep = TRUE")
  expect_output(print(verdict), "optimal")
})

# They were the engine's numbers, and data was a text.
test_that("a verification speaks of levels and data", {
  model <- svm(Species ~ ., iris)
  checks <- function(model, ...) {
    found <- verify(model, ...)$checks
    setNames(found$detail, found$check)
  }
  turned <- checks(model, iris[150:1, ])
  expect_identical(turned[["classes"]], "model setosa, versicolor, virginica; data setosa, versicolor, virginica")
  expect_match(turned[["data hash"]], "other data, or another order of rows")
  expect_match(turned[["support vectors"]], "^support vector [1-9][0-9]* of setosa/versicolor is said to be row")
  expect_match(checks(model, iris[1:100, ])[["classes"]], "; data setosa, versicolor$")
  expect_match(checks(model)[["bias"]], "is that of (setosa/versicolor|setosa/virginica|versicolor/virginica): model")
  two <- svm(Species ~ ., iris[51:150, ])
  expect_identical(checks(two)[["classes"]], "model virginica, versicolor; data virginica, versicolor")
  many <- svm(iris[, 1:4], factor(rep(letters[1:15], 10)))
  expect_match(checks(many)[["classes"]], "^model a, b, .*, j and 5 more; data")
})

# Terms were once computed of terms, whose variables did not exist.
test_that("terms of a formula are verified and updated", {
  model <- svm(Species ~ log(Sepal.Length) + I(Petal.Length^2), iris)
  expect_true(verify(model, iris)$matches)
  expect_true(all(certificate(update_svm(model, add = iris[1:3, ], remove = 1:3))$holds))
})

test_that("a primal objective follows from the object", {
  data <- iris[51:150, ]
  data$Species <- droplevels(data$Species)
  model <- svm(Species ~ ., data, kernel = "linear", cost = 2, tolerance = exact)
  w <- crossprod(model$coefs, model$SV)
  sign <- ifelse(data$Species == "versicolor", 1, -1)
  primal <- sum(w^2) / 2 + 2 * sum(pmax(0, 1 - sign * model$decision.values[, 1]))
  expect_equal(certificate(model)$primal, primal, tolerance = 1e-6)
})

test_that("updates reach the optimum of the changed data", {
  for (kernel in c("radial", "linear")) {
    model <- svm(Species ~ ., iris, subset = -(1:3), kernel = kernel, scale = FALSE, tolerance = exact)
    changed <- update_svm(model, add = iris[1:3, ], remove = c(1, 60, 140))
    expect_identical(changed$update, list(method = "path", added = 3L, removed = 3L))
    kept <- iris[c((4:150)[-c(1, 60, 140)], 1:3), ]
    fresh <- svm(Species ~ ., kept, kernel = kernel, scale = FALSE, tolerance = exact)
    expect_lt(max(abs(changed$decision.values[names(fresh$fitted), ] - fresh$decision.values)), 1e-4)
    expect_identical(sort(names(changed$fitted)), sort(rownames(kept)))
    expect_equal(changed$SV[, 2], fresh$SV[rownames(fresh$SV), 2][seq_len(nrow(changed$SV))], ignore_attr = TRUE)
    expect_true(all(certificate(changed)$holds) && verify(changed)$met)
  }
})

test_that("models without a path are trained again", {
  model <- svm(dist ~ speed, cars[1:40, ], scale = FALSE, tolerance = exact)
  changed <- update_svm(model, add = cars[41:50, ], remove = 2)
  expect_identical(changed$update$method, "training")
  fresh <- svm(dist ~ speed, cars[-2, ], scale = FALSE, tolerance = exact)
  expect_equal(changed$fitted, fresh$fitted, tolerance = 1e-4)
  weighted <- svm(Species ~ ., iris, weights = rep(2, 150), scale = FALSE, tolerance = exact)
  changed <- update_svm(weighted, remove = 1:5)
  fresh <- svm(Species ~ ., iris[-(1:5), ], cost = 2, scale = FALSE, tolerance = exact)
  expect_equal(changed$decision.values, fresh$decision.values, tolerance = 1e-4)
  one <- svm(iris[, 1:4], tolerance = 1e-5)
  expect_true(verify(update_svm(one, add = iris[1:2, 1:4], remove = 9))$met)
})

# The decision values of one model less those of another, of which either class may be the first.
difference <- function(a, b, newdata) {
  values <- lapply(list(a, b), function(m) as.vector(attr(predict(m, newdata, decision.values = TRUE), "decision.values")))
  if (identical(a$labels, b$labels)) values[[1]] - values[[2]] else values[[1]] + values[[2]]
}

# They once kept the weights of the former class sizes.
test_that("weights of inverse class sizes follow an update", {
  two <- droplevels(iris[51:150, ])
  model <- svm(Species ~ ., two[c(1:50, 61:70), ], class.weights = "inverse", scale = FALSE, tolerance = exact)
  changed <- update_svm(model, add = two[71:100, ], remove = 1:20)
  fresh <- svm(Species ~ ., two[c(21:50, 61:100), ], class.weights = "inverse", scale = FALSE, tolerance = exact)
  expect_identical(changed$update$method, "training")
  expect_lt(max(abs(difference(changed, fresh, iris))), 1e-4)
  again <- update_svm(changed, remove = 1:5)
  fresh <- svm(Species ~ ., two[c(26:50, 61:100), ], class.weights = "inverse", scale = FALSE, tolerance = exact)
  expect_lt(max(abs(difference(again, fresh, iris))), 1e-4)
})

# They were once taken by their places.
test_that("columns of a matrix in another order are taken by name", {
  rows <- c(1:40, 51:90)
  x <- as.matrix(iris[1:100, 1:4])
  y <- droplevels(iris$Species[1:100])
  model <- svm(x[rows, ], y[rows], scale = FALSE, tolerance = exact)
  expected <- update_svm(model, add = x[-rows, ], y = y[-rows])
  turned <- update_svm(model, add = x[-rows, 4:1], y = y[-rows])
  expect_identical(max(abs(difference(turned, expected, x))), 0)
  expect_true(verify(model, x[rows, 4:1], y[rows])$met)
  unnamed <- update_svm(model, add = unname(x[-rows, ]), y = y[-rows])
  expect_identical(max(abs(difference(unnamed, expected, x))), 0)
})

test_that("updates of rows that do not exist are errors", {
  model <- svm(Species ~ ., iris)
  expect_error(update_svm(model, remove = 151), "1 to 150")
  expect_error(update_svm(model, remove = c(2, 2)), "twice")
  expect_error(update_svm(model, remove = 1:50), "setosa.* would be left")
  expect_error(update_svm(svm(Species ~ ., iris, weights = rep(2, 150)), remove = 51:100), "versicolor.* would be left")
  stranger <- transform(iris[1, ], Species = "rose")
  expect_error(update_svm(model, add = stranger), "rose")
  expect_error(update_svm(svm(Species ~ ., iris, keep = FALSE), remove = 1), "keep = TRUE")
})

test_that("explanations add up to decision values", {
  for (kernel in c("radial", "linear", "polynomial")) {
    model <- svm(Species ~ ., iris, kernel = kernel)
    why <- explain(model, iris[c(1, 60, 120), ])
    expect_equal(dim(why$values), c(4, 3, 3))
    expect_equal(dimnames(why$values)[[1]], names(iris)[1:4])
    sums <- t(apply(why$values, 2:3, sum) + why$base)
    expect_equal(sums, why$decision.values, tolerance = 1e-9)
    decisions <- attr(predict(model, iris[c(1, 60, 120), ], decision.values = TRUE), "decision.values")
    expect_equal(why$decision.values, decisions, tolerance = 1e-6)
  }
  model <- svm(dist ~ speed, cars)
  why <- explain(model, cars[1:2, ], background = cars)
  expect_equal(sum(why$values[, , 1]) + why$base[[1]], model$decision.values[1, 1], tolerance = 1e-6)
  expect_equal(why$base[[1]], mean(model$decision.values), tolerance = 1e-6)
  pairs <- explain(svm(Species ~ ., iris), iris[1:2, ], interactions = TRUE)$interactions
  expect_equal(dim(pairs), c(4, 4, 3, 2))
  expect_output(print(why), "decision value")
})

test_that("an interrupt ends a training, and the next one works", {
  skip_on_os("windows")
  set.seed(1)
  n <- 20000
  x <- matrix(rnorm(n * 30), n)
  y <- factor(sample(2, n, TRUE))
  parent <- Sys.getpid()
  child <- parallel::mcparallel({
    Sys.sleep(1)
    tools::pskill(parent, tools::SIGINT)
  })
  ended <- tryCatch(svm(x, y, cost = 1e6, gamma = 0.5, tolerance = 1e-9, fitted = FALSE, keep = FALSE),
                    interrupt = function(condition) "interrupted")
  expect_identical(ended, "interrupted")
  suppressWarnings(parallel::mccollect(child))
  expect_true(svm(Species ~ ., iris)$tot.nSV > 0)
})

test_that("forked processes have threads of their own", {
  skip_on_os("windows")
  here <- svm(Species ~ ., iris)$decision.values
  there <- parallel::mclapply(1:2, function(i) svm(Species ~ ., iris)$decision.values, mc.cores = 2)
  expect_identical(there, list(here, here))
})

test_that("results do not depend on threads", {
  before <- svm_threads()
  on.exit(svm_threads(before))
  many <- svm(Species ~ ., iris)
  svm_threads(1)
  expect_identical(svm_threads(), 1L)
  expect_identical(svm(Species ~ ., iris)$coefs, many$coefs)
  expect_error(svm_threads(0), "0 threads")
})
