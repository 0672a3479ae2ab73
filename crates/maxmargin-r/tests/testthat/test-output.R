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

test_that("files of models are e1071's", {
  skip_if_not_installed("e1071")
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  files <- file.path(folder, letters[1:6])
  words <- function(file) strsplit(readLines(file), " +")
  for (set in list(list(Species ~ ., iris), list(dist ~ speed, cars))) {
    write.svm(svm(set[[1]], set[[2]], tolerance = exact), files[1], files[2], files[3])
    e1071::write.svm(e1071::svm(set[[1]], set[[2]], tolerance = exact), files[4], files[5], files[6])
    expect_equal(utils::read.table(files[2]), utils::read.table(files[5]))
    ours <- words(files[1])
    theirs <- words(files[4])
    expect_identical(vapply(ours, `[`, "", 1)[1:5], vapply(theirs, `[`, "", 1)[1:5])
    # Rows of cars are equal to each other, and their coefficients are not unique.
    if (identical(set[[2]], cars)) next
    expect_length(ours, length(theirs))
    numbers <- function(line) as.numeric(sub(".*:", "", line))
    at <- which(vapply(ours, `[`, "", 1) == "SV")
    for (line in seq(at + 1, length(ours))) expect_equal(numbers(ours[[line]]), numbers(theirs[[line]]), tolerance = 1e-3)
  }
  expect_equal(utils::read.table(files[3]), utils::read.table(files[6]))
})

test_that("a violation within a tolerance below rounding is not called a miss", {
  table <- data.frame(kkt = 0, relative_gap = 0, holds = FALSE, status = "stalled")
  sentence <- certificate_sentence(table, 1e-12)
  expect_match(sentence, "rounding hides whether the KKT violation 0 is within the tolerance 1e-12", fixed = TRUE)
  table$kkt <- 1
  expect_match(certificate_sentence(table, 1e-12), "NOT optimal: 1 of 1 machine(s)", fixed = TRUE)
})
