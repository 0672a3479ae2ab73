test_that("print and summary tell what e1071's tell, and the certificate", {
  model <- svm(Species ~ ., iris, cross = 3)
  expect_output(print(model), "SVM-Type:  C-classification")
  expect_output(print(model), paste0("Number of Support Vectors:  ", model$tot.nSV))
  expect_output(print(model), "Certificate:  optimal within KKT")
  expect_output(print(summary(model)), "3-fold cross-validation")
  expect_output(print(summary(model)), "Total Accuracy")
  expect_output(print(summary(svm(dist ~ speed, cars, cross = 3))), "Total Mean Squared Error")
  expect_output(print(summary(svm(iris[, 1:4]))), "one-classification")
})

test_that("plots draw", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  expect_null(plot(svm(Sex ~ Bwt + Hwt, data = data.frame(Sex = factor(rep(c("F", "M"), 10)), Bwt = 1:20, Hwt = sqrt(1:20))),
                   data.frame(Sex = factor(rep(c("F", "M"), 10)), Bwt = 1:20, Hwt = sqrt(1:20))))
  model <- svm(Species ~ ., iris)
  expect_null(plot(model, iris, Petal.Width ~ Petal.Length, slice = list(Sepal.Width = 3, Sepal.Length = 4)))
  expect_null(plot(model, iris, Petal.Width ~ Petal.Length, fill = FALSE))
  expect_error(plot(model, iris), "missing formula")
  data <- transform(iris, group = factor(rep(c("a", "b"), 75)))
  model <- svm(Species ~ ., data)
  expect_null(plot(model, data, Petal.Width ~ Petal.Length, slice = list(group = "b")))
  expect_error(plot(model, data, Petal.Width ~ Petal.Length, slice = list(group = "c")), "could not be found")
})
