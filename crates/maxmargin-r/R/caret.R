#' A model for `train` of package caret
#'
#' @param kernel "radial", "polynomial" or "linear".
#' @return a list for argument `method` of `caret::train`. Its parameters are those of [svm()]:
#'   `cost`, and `gamma`, `degree` and `coef0` where the kernel has them.
#' @examples
#' method <- caret_svm("radial")
#' method$parameters
#' \dontrun{
#' caret::train(Species ~ ., data = iris, method = caret_svm("radial"), tuneLength = 3)
#' }
#' @export
caret_svm <- function(kernel = "radial") {
  kernel <- match.arg(kernel, c("radial", "polynomial", "linear"))
  parameters <- c("cost", switch(kernel, radial = "gamma", polynomial = c("gamma", "degree", "coef0")))
  words <- c(cost = "Cost", gamma = "Gamma", degree = "Polynomial Degree", coef0 = "Constant")
  grid <- function(x, y, len = NULL, search = "grid") {
    n <- if (is.null(len)) 3 else len
    random <- search == "random"
    values <- list(cost = if (random) 2^stats::runif(n, -5, 10) else 2^(seq_len(n) - 3),
                   gamma = if (random) 2^stats::runif(n, -10, 2) / ncol(x) else 1 / ncol(x),
                   degree = if (random) sample(1:3, n, TRUE) else seq_len(min(n, 3)), coef0 = 1)
    if (random) as.data.frame(values[parameters]) else expand.grid(values[parameters])
  }
  list(
    label = paste("Support Vector Machine with", kernel, "kernel (maxmargin)"), library = "maxmargin",
    type = c("Classification", "Regression"), loop = NULL, grid = grid,
    parameters = data.frame(parameter = parameters, class = "numeric", label = unname(words[parameters])),
    fit = function(x, y, wts, param, lev, last, classProbs, ...) {
      do.call(maxmargin::svm, c(list(x = as.matrix(x), y = y, kernel = kernel, weights = wts,
                                     probability = isTRUE(classProbs)), as.list(param), list(...)))
    },
    predict = function(modelFit, newdata, submodels = NULL) stats::predict(modelFit, as.matrix(newdata)),
    prob = function(modelFit, newdata, submodels = NULL) {
      found <- attr(stats::predict(modelFit, as.matrix(newdata), probability = TRUE), "probabilities")
      as.data.frame(chances_of(found, modelFit$levels))
    },
    levels = function(x) x$levels, tags = c("Kernel Method", "Support Vector Machines", "Robust Methods"),
    sort = function(x) x[order(x$cost), ]
  )
}
