# Evaluates a call and returns the message of its error, which has to be one of the package: R's own
# errors have a call.
message_of <- function(call, trained = NULL) {
  found <- tryCatch({
    eval(call, list(trained = trained))
    NULL
  }, error = identity)
  if (is.null(found)) return("no error")
  expect_null(conditionCall(found), info = paste(deparse(call)[1], conditionMessage(found)))
  conditionMessage(found)
}

# Expects an error that names the argument, for each value. `call` has the other arguments, and may
# use a model by the name `trained`.
expect_refused <- function(call, argument, values, trained = NULL) {
  for (value in values) {
    call[argument] <- list(value)
    expect_match(message_of(call, trained), argument, fixed = TRUE, info = deparse(call)[1])
  }
}

none <- list(NULL, NA, 1:2, "a", list(1), function(a, b) 1, c("linear", "radial"))

# They once were errors of R's conditions and coercions.
test_that("values that are none are refused with the name of the argument", {
  train <- quote(svm(iris[, 1:4], iris$Species))
  for (name in c("cost", "gamma", "coef0", "nu", "degree", "epsilon", "tolerance", "cachesize", "shrinking", "probability",
                 "fitted", "keep", "scale", "kernel", "cross")) {
    expect_refused(train, name, none)
  }
  for (name in c("type", "class.weights", "weights")) expect_refused(train, name, none[-1])
  expect_refused(train, "na.action", none[-6])
  expect_refused(train, "na.action", list(function(rows) 1))
  expect_refused(train, "subset", list(list(1), function(a) 1, c(1, 999), "stranger"))
  expect_refused(train, "tolerance", list(0, Inf))
  expect_refused(quote(svm(Species ~ ., data = iris)), "scale", none)
  expect_refused(quote(svm(Species ~ ., data = iris)), "na.action", none[-6])
  for (x in none[-2]) expect_refused(quote(svm(y = iris$Species)), "x", list(x))
  expect_match(message_of(quote(svm(Species ~ 1, iris))), "no columns")
  search <- quote(tune_svm(iris[, 1:4], iris$Species, cross = 3))
  for (name in c("degree", "cost", "gamma", "nu")) expect_refused(search, name, none[c(2, 4:7)])
  for (name in c("cross", "best.model", "kernel")) expect_refused(search, name, none)
  for (name in c("fix", "tunecontrol")) expect_refused(search, name, none[-1])
  expect_refused(search, "fix", list(0, 1, 2, -1))
  # The search once fell back to folds.
  control <- tune.control(sampling = "fix", fix = NULL)
  expect_error(tune_svm(Species ~ ., data = iris, tunecontrol = control), "fix is missing")
})

test_that("values that are none are refused by functions of a model", {
  model <- svm(Species ~ ., iris)
  refused <- function(call, argument, values) expect_refused(call, argument, values, model)
  for (name in c("decision.values", "probability", "na.action")) {
    refused(quote(predict(trained, iris[1:3, ])), name, none[-6])
  }
  refused(quote(predict(trained)), "newdata", list(NULL, list(1), as.list(iris[1:2, ]), mean))
  refused(quote(explain(trained, iris[1:3, ])), "interactions", none)
  refused(quote(explain(trained, iris[1:3, ])), "background", list(list(1), mean))
  refused(quote(update_svm(trained, iris[1:2, ])), "remove", none[c(2, 4:7)])
  refused(quote(update_svm(trained)), "add", list(list(1), mean))
  refused(quote(verify(trained)), "data", list(list(1), mean))
  expect_true(verify(model, as.list(iris))$matches)
  for (name in c("svm.file", "scale.file")) refused(quote(write.svm(trained, tempfile(), tempfile())), name, none[-4])
  expect_match(message_of(quote(write.svm(1))), "model of svm()", fixed = TRUE)
  expect_match(message_of(quote(update_svm(1))), "model of svm()", fixed = TRUE)
  expect_refused(quote(svm_threads()), "count", none[-1])
  expect_identical(update_svm(model, remove = NULL)$update$removed, 0L)
  searched <- tune_svm(dist ~ speed, data = cars, cost = 1, best.model = FALSE)
  expect_error(certificate(searched), "best.model = TRUE")
})

test_that("a kernel or a type may be a factor or the beginning of a name", {
  model <- svm(iris[, 1:4], iris$Species, kernel = factor("linear"), type = factor("nu-classification"))
  expect_identical(c(model$kernel, model$type), c(0, 1))
  expect_identical(svm(iris[, 1:4], iris$Species, kernel = "rad", type = "C")$kernel, 2)
})

# R took 2.5 for 2: a search listed it as tried.
test_that("degrees are whole numbers", {
  for (degree in c(2.5, -1, Inf)) {
    expect_error(svm(Species ~ ., iris, kernel = "polynomial", degree = degree), "degree must be a whole number of 0 or more")
  }
  expect_error(tune_svm(Species ~ ., data = iris, kernel = "polynomial", degree = c(2, 2.5, 3)), "and is 2.5")
})

test_that("a plot names the variables that it cannot draw", {
  model <- svm(Species ~ ., iris)
  expect_error(plot(model, iris, foo ~ bar), "foo.* is not one of the model's")
  expect_error(plot(model, iris, Petal.Width ~ Species), "Species.* is not one of the model's")
  expect_error(plot(model, iris[, -4], Petal.Width ~ Petal.Length), "no variable .*Petal.Width")
  expect_error(plot(model, iris, "Petal.Width"), "vertical ~ horizontal")
  expect_error(plot(model, iris, Petal.Width ~ Petal.Length, slice = list(Sepal.Widht = 3)), "Sepal.Widht")
  expect_error(plot(model, iris, Petal.Width ~ Petal.Length, grid = "a"), "grid must be")
  expect_error(plot(model, as.list(iris), Petal.Width ~ Petal.Length), "data must be")
})

# It was an error about the number of columns, or about contrasts.
test_that("a variable of another type is named with its types", {
  model <- svm(Species ~ ., iris)
  texts <- transform(iris, Sepal.Length = as.character(Sepal.Length))
  for (rows in list(1:150, 1)) {
    expect_error(predict(model, texts[rows, ]), "Sepal.Length.* is character, and was numeric in the training data")
  }
  expect_error(verify(model, transform(iris, Sepal.Width = Species)), "Sepal.Width.* is factor, and was numeric")
  expect_error(predict(svm(iris[, 1:4], iris$Species), texts[, 1:4]), "Sepal.Length.* of newdata has no numbers")
  # A matrix has numbers for TRUE and FALSE.
  data <- transform(iris, big = Petal.Length > 3)
  model <- svm(Species ~ ., data)
  expect_equal(predict(model, as.matrix(data[, -5])), predict(model, data))
})
