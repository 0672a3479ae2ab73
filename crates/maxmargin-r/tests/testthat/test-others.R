test_that("kernlab has the same optimum", {
  skip_if_not_installed("kernlab")
  data <- iris[51:150, ]
  data$Species <- droplevels(data$Species)
  ours <- svm(Species ~ ., data, gamma = 0.3, cost = 4, tolerance = exact)
  theirs <- kernlab::ksvm(Species ~ ., data, kernel = "rbfdot", kpar = list(sigma = 0.3), C = 4, tol = exact)
  expect_equal(-ours$certificate$dual, as.vector(kernlab::obj(theirs)), tolerance = 1e-4)
  expect_equal(sort(abs(ours$coefs)), sort(unlist(kernlab::alpha(theirs))), tolerance = 1e-3)
  expect_identical(as.character(ours$fitted), as.character(kernlab::fitted(theirs)))
})

test_that("caret trains with it", {
  skip_if_not_installed("caret")
  set.seed(1)
  found <- caret::train(iris[, 1:4], iris$Species, method = caret_svm(), tuneLength = 2,
                        trControl = caret::trainControl(method = "cv", number = 3, classProbs = TRUE))
  expect_gt(max(found$results$Accuracy), 0.9)
  expect_identical(dim(predict(found, iris[1:5, 1:4], type = "prob")), c(5L, 3L))
  found <- caret::train(dist ~ speed, cars, method = caret_svm("linear"), tuneLength = 2,
                        trControl = caret::trainControl(method = "cv", number = 3))
  expect_identical(found$method, "custom")
})

test_that("the engine of parsnip names arguments and functions that are there", {
  told <- list()
  recorder <- function(name) function(...) told[[length(told) + 1]] <<- list(name, ...)
  register_parsnip(recorder)
  expect_setequal(vapply(told, `[[`, "", 1), c("set_model_engine", "set_dependency", "set_model_arg", "set_fit", "set_encoding", "set_pred"))
  arguments <- names(formals(getS3method("svm", "default")))
  for (model in names(parsnip_models)) for (mode in c("classification", "regression")) {
    engine <- parsnip_engine(model, mode)
    expect_true(all(c(engine$arguments, names(engine$fit$defaults)) %in% arguments))
    data <- if (mode == "classification") iris else cars
    formula <- if (mode == "classification") Species ~ . else dist ~ speed
    fit <- do.call(svm, c(list(formula, data = data), engine$fit$defaults))
    object <- list(fit = fit, lvl = levels(iris$Species))
    for (type in names(engine$predictions)) {
      told_of <- engine$predictions[[type]]
      args <- lapply(told_of$args, eval, list(object = object, new_data = data[1:3, ]))
      result <- do.call(told_of$func[["fun"]], args)
      if (!is.null(told_of$post)) result <- told_of$post(result, object)
      expect_identical(NROW(result), 3L)
    }
  }
})

test_that("parsnip fits and predicts with it", {
  skip_if_not_installed("parsnip")
  engine <- function(name, ...) parsnip::set_engine(getExportedValue("parsnip", name)(...), "maxmargin")
  for (name in names(parsnip_models)) {
    kernel <- parsnip_models[[name]]$kernel
    spec <- engine(name, mode = "classification", cost = 2)
    fitted <- parsnip::fit(spec, Species ~ ., data = iris)
    direct <- svm(Species ~ ., iris, kernel = kernel, cost = 2, coef0 = as.numeric(name == "svm_poly"), probability = TRUE)
    expect_identical(fitted$fit$decision.values, direct$decision.values)
    expect_identical(predict(fitted, iris)$.pred_class, unname(predict(direct, iris)))
    chances <- predict(fitted, iris, type = "prob")
    expect_identical(names(chances), paste0(".pred_", levels(iris$Species)))
    expect_equal(rowSums(chances), rep(1, 150))
    values <- parsnip::fit_xy(engine(name, mode = "regression", margin = 0.05), cars["speed"], cars$dist)
    expect_identical(values$fit$epsilon, 0.05)
    expect_equal(predict(values, cars)$.pred, unname(values$fit$fitted))
  }
  skip_if_not_installed("hardhat")
  weights <- rep(c(1, 3), 75)
  weighted <- parsnip::fit(spec, Species ~ ., data = iris, case_weights = hardhat::importance_weights(weights))
  direct <- svm(Species ~ ., iris, kernel = kernel, cost = 2, weights = weights)
  expect_equal(weighted$fit$decision.values, direct$decision.values)
})

test_that("sparse samples with names are verified and added in any order of columns", {
  sparse <- Matrix::Matrix(as.matrix(iris[, 1:4]), sparse = TRUE)
  model <- svm(sparse, iris$Species)
  expect_true(verify(model, sparse, iris$Species)$matches)
  expect_true(verify(model, sparse[, 4:1], iris$Species)$matches)
  more <- update_svm(svm(sparse[-(1:3), ], iris$Species[-(1:3)]), add = sparse[1:3, 4:1], y = iris$Species[1:3])
  expect_equal(sum(abs(predict(more, sparse) == predict(model, sparse))), 150)
})

test_that("weights of added samples count in a model without weights", {
  model <- svm(Species ~ ., iris[1:140, ], scale = FALSE, tolerance = 1e-6)
  unchanged <- update_svm(model, add = iris[141:150, ], weights = rep(0, 10))
  expect_equal(unchanged$rho, model$rho, tolerance = 1e-4)
  expect_identical(unchanged$update$method, "training")
  expect_identical(update_svm(model, add = iris[141:150, ], weights = rep(1, 10))$update$method, "path")
  expect_error(update_svm(model, add = iris[141:150, ], weights = 1), "10 samples to add, and 1 weights")
  expect_error(update_svm(model, remove = 1, weights = 2), "0 samples to add, and 1 weights")
  expect_error(update_svm(model, add = iris[141:150, ], weights = rep(-1, 10)), "weights must be finite numbers")
})

test_that("a search refuses what it would ignore", {
  expect_error(tune_svm(Species ~ ., data = iris, cst = 3), "tune_svm has no argument .cst.")
  expect_error(tune_svm(Species ~ ., data = iris, ranges = list(cost = 1:2)), "tune_svm has no argument .ranges.")
  expect_error(tune_svm(Species ~ ., data = iris, cost = 1, validation.x = iris), "a validation set is a share")
  expect_error(tune_svm(Species ~ ., data = iris, cost = c(0, 1)), "cost must be above 0, and one is 0")
  found <- tune_svm(Species ~ ., data = iris, cost = 1:2, tunecontrol = tune.control(performances = FALSE))
  expect_null(found$performances)
  expect_error(plot(found), "no table of performances")
})

test_that("folds are whole numbers", {
  for (cross in list(3.7, "5", -3, 1, NA, c(2, 3))) {
    expect_error(svm(iris[, 1:4], iris$Species, cross = cross), "cross must be 0, or 2 folds or more, and is")
    expect_error(tune_svm(Species ~ ., data = iris, cost = 1, cross = cross), "cross must be 2 folds or more, and is")
  }
})

test_that("messages name rows and columns of the data as they were given", {
  wrong <- cars
  wrong$speed[4] <- Inf
  expect_error(svm(dist ~ speed, wrong), "row 4, column .speed. is Inf: samples have finite numbers$")
  wrong <- cars
  wrong$dist[4] <- -Inf
  expect_error(svm(dist ~ speed, wrong), "y of row 4 is -Inf")
  expect_error(svm(dist ~ speed, wrong, subset = 3:50), "y of row")
  sparse <- Matrix::Matrix(as.matrix(iris[, 1:4]), sparse = TRUE)
  sparse[3, 2] <- NA
  expect_error(svm(sparse, iris$Species), "row 3, column .Sepal.Width. is NA")
  expect_error(svm(Species ~ ., iris, class.weights = c(setosa = -1)), "class.weights must be finite numbers of 0 or more")
  expect_warning(svm(Species ~ ., iris, cst = 3), "svm has no argument .cst.")
  model <- svm(iris[, 1:4], iris$Species)
  expect_warning(predict(model, iris[, 4:1]), "taken by position")
})

test_that("a level without samples has probability 0 for caret and parsnip", {
  method <- caret_svm()
  two <- iris[1:100, ]
  fitted <- method$fit(as.matrix(two[, 1:4]), two$Species, NULL, list(cost = 1, gamma = 0.1), levels(two$Species), TRUE, TRUE)
  found <- method$prob(fitted, two[1:2, 1:4])
  expect_identical(names(found), levels(iris$Species))
  expect_identical(found$virginica, c(0, 0))
  expect_equal(rowSums(found), c(1, 1), ignore_attr = TRUE)
})
