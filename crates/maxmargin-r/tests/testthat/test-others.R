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
