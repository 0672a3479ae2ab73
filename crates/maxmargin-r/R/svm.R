#' Support vector machines
#'
#' Trains a support vector machine for classification, regression or novelty detection. Arguments,
#' defaults and the object are those of `svm` in package e1071. The result is the optimum within
#' `tolerance`, with a [certificate()] that is computed again in double precision.
#'
#' @param formula a formula of the response and the variables. Factors become columns of zeros and
#'   ones, which are not scaled.
#' @param data a data frame with the variables of the formula, or a matrix.
#' @param x a matrix, a data frame of numbers, a vector, or a sparse matrix: any class of package
#'   Matrix, `matrix.csr` of SparseM or `simple_triplet_matrix` of slam.
#' @param y the response: a factor for classification, numbers for regression. Without it, the
#'   model is one of a single class (novelty detection).
#' @param scale whether columns are scaled to mean 0 and variance 1: one value, or one for each
#'   column of `x`, or one for each term of the formula. In regression the response is scaled as
#'   well. Sparse matrices are not scaled, and nothing is if a column is constant.
#' @param type "C-classification", "nu-classification", "one-classification", "eps-regression" or
#'   "nu-regression". The default follows from `y`.
#' @param kernel "linear", "polynomial", "radial" or "sigmoid".
#' @param degree,gamma,coef0 parameters of the kernel. `degree` is a whole number. The default of
#'   `gamma` is 1 / columns, where factors count as many columns as they become.
#' @param cost the cost of violations of the margin (C).
#' @param nu the bound of errors and support vectors of nu-classification, nu-regression and
#'   one-classification.
#' @param class.weights a named vector or list with factors of the cost for levels of `y`, or
#'   "inverse" for weights of 1 / frequency. Levels without a name have weight 1.
#' @param cachesize memory of kernel values in MB. The engine uses 2 GB if this is less.
#' @param tolerance the largest violation of the optimality conditions (KKT).
#' @param epsilon the width of the insensitive tube of eps-regression.
#' @param shrinking whether the solver leaves out samples that it expects to stay as they are.
#' @param cross the number of folds of a cross-validation of the training data, or 0. With the same
#'   seed the folds are those of e1071. All folds share their kernel values. Of equal votes the class
#'   that comes first in all samples wins, in e1071 the first one of each fold.
#' @param probability whether the model predicts probabilities (Platt's method on five folds).
#' @param fitted whether the object has fitted values and decision values.
#' @param weights factors of the cost for each sample, 0 or more.
#' @param keep whether the object keeps the training data, for [verify()] and [update_svm()].
#' @param ... for the formula: arguments of the default method.
#' @param subset rows of the data to train on.
#' @param na.action what to do with missing values: `na.omit`, `na.exclude` or `na.fail`.
#'
#' @return An object of class "svm" with the elements of e1071's (`SV`, `index`, `coefs`, `rho`,
#'   `labels`, `levels`, `fitted`, `decision.values`, `x.scale`, `accuracies`, `tot.accuracy`, `MSE`,
#'   `tot.MSE` and others) and `certificate`, a data frame with a row for each machine. `SV` of
#'   a sparse matrix is a `dgRMatrix`.
#'
#' @section Differences from e1071:
#' Probabilities are fitted on other folds than LIBSVM's, so that they differ in the second digit.
#' Their folds do not take random numbers of R: they are the same for every seed. Data
#' with a single class is an error at the training instead of the first prediction. So are a degree
#' that is no whole number, and for a formula a `scale` of neither one value nor one for each term.
#'
#' @examples
#' model <- svm(Species ~ ., data = iris)
#' model
#' table(predict(model, iris), iris$Species)
#' certificate(model)
#'
#' # regression with a cross-validation
#' summary(svm(dist ~ speed, data = cars, cross = 5))
#' @export
svm <- function(x, ...) UseMethod("svm")

types <- c("C-classification", "nu-classification", "one-classification", "eps-regression", "nu-regression")
kernels <- c("linear", "polynomial", "radial", "sigmoid")

#' @rdname svm
#' @export
svm.default <- function(x, y = NULL, scale = TRUE, type = NULL, kernel = "radial", degree = 3,
                        gamma = if (is.vector(x)) 1 else 1 / ncol(x), coef0 = 0, cost = 1, nu = 0.5,
                        class.weights = NULL, cachesize = 40, tolerance = 0.001, epsilon = 0.1,
                        shrinking = TRUE, cross = 0, probability = FALSE, fitted = TRUE, ...,
                        weights = NULL, keep = TRUE, subset, na.action = na.omit) {
  unused_arguments("svm", names(list(...)))
  # The default of gamma counts columns of any kind of matrix.
  x <- rows_of(x)
  object <- svm_problem(x, y, scale = scale, type = type, kernel = kernel, degree = degree, gamma = gamma,
                        coef0 = coef0, cost = cost, nu = nu, cachesize = cachesize, tolerance = tolerance,
                        epsilon = epsilon, shrinking = shrinking, probability = probability, weights = weights,
                        subset = if (!missing(subset)) subset, na.action = na.action)
  object$call <- match.call()
  fit(object, class.weights, cross, fitted, keep)
}

# Returns an object without a model: its parameters, and its scaled and coded samples.
svm_problem <- function(x, y = NULL, scale = TRUE, type = NULL, kernel = "radial", degree = 3,
                        gamma = 1 / ncol(x), coef0 = 0, cost = 1, nu = 0.5,
                        cachesize = 40, tolerance = 0.001, epsilon = 0.1, shrinking = TRUE,
                        probability = FALSE, ..., weights = NULL, subset = NULL, na.action = na.omit) {
  x <- rows_of(x)
  y <- response_of_column(y)
  parameters <- list(cost = cost, degree = degree, gamma = gamma, coef0 = coef0, nu = nu, epsilon = epsilon,
                     tolerance = tolerance, cachesize = cachesize)
  check_parameters(parameters)
  parameters$shrinking <- flag_of(shrinking, "shrinking")
  probability <- flag_of(probability, "probability")
  if (is.null(type)) {
    type <- if (is.null(y)) types[3] else if (is.factor(y)) types[1] else types[4]
  }
  type <- choice_of(type, "type", types)
  kernel <- choice_of(kernel, "kernel", kernels)
  if (type == 3 && probability) stop("one-class SVM has no probabilities: leave out argument probability", call. = FALSE)
  samples <- usable(x, y, weights, subset, na.action)
  object <- c(list(call = NULL, type = type - 1, kernel = kernel - 1), parameters)
  object$compprob <- probability
  object$sparse <- is_sparse(samples$x)
  coded(scaled(object, samples, scale))
}

#' @rdname svm
#' @export
svm.formula <- function(formula, data = NULL, ..., weights, subset, na.action = na.omit, scale = TRUE) {
  call <- match.call()
  found <- formula_samples(call, parent.frame(), formula, data, na.action, scale)
  object <- svm.default(found$x, found$y, scale = found$scale, ..., weights = found$weights, na.action = stats::na.pass)
  object <- with_omitted(object, found$na.action)
  object$trained <- found$trained
  object$call <- call
  object$call[[1L]] <- as.name("svm")
  object[c("terms", "contrasts", "xlevels")] <- found[c("terms", "contrasts", "xlevels")]
  class(object) <- c("maxmargin_svm", "svm.formula", "svm")
  object
}

# Returns the samples of a formula, their response and weights, and which columns to scale. `call`
# has the arguments of `model.frame`, and `caller` is where they are evaluated.
formula_samples <- function(call, caller, formula, data, na.action, scale) {
  if (!inherits(formula, "formula")) stop("the first argument is a formula", call. = FALSE)
  frame <- call[c(1L, match(c("formula", "x", "data", "weights", "subset"), names(call), 0L))]
  names(frame)[names(frame) == "x"] <- "formula"
  frame[[1L]] <- quote(stats::model.frame)
  if (is.matrix(data)) frame$data <- as.data.frame(data)
  frame$na.action <- na_function(na.action)
  n <- if (is.matrix(data) || is.data.frame(data)) nrow(data)
  frame$row <- if (!is.null(n)) seq_len(n)
  frame <- eval(frame, caller)
  terms <- attr(frame, "terms")
  attr(terms, "intercept") <- 0
  x <- model.matrix(terms, frame)
  contrasts <- attr(x, "contrasts")
  # Columns of factors are not scaled.
  names <- labels(terms)[attr(x, "assign")]
  scale <- scale_flags(scale, length(labels(terms)), paste("the formula has", length(labels(terms)), "terms"))[attr(x, "assign")]
  scale <- scale & !names %in% names(contrasts)
  attr(x, "assign") <- attr(x, "contrasts") <- NULL
  found <- list(x = x, y = model.response(frame), scale = scale, terms = terms, contrasts = contrasts,
                weights = as.vector(stats::model.weights(frame)), xlevels = stats::.getXlevels(terms, frame))
  found["na.action"] <- list(attr(frame, "na.action"))
  found$trained <- if (!is.null(n)) some_of(frame[["(row)"]], n)
  found
}

# The rows that the formula left out belong to the object, as those of svm.default do.
with_omitted <- function(object, omitted) {
  object["na.action"] <- list(omitted)
  if (!is.null(object$fitted) && inherits(omitted, "exclude")) attr(object$fitted, "na.action") <- omitted
  object
}

# Stops at the first value that is missing or infinite. `rows` has the numbers of the rows in the data.
check_finite <- function(x, y, rows) {
  if (is_sparse(x)) {
    first <- which(!is.finite(x@x))[1]
    at <- if (!is.na(first)) c(findInterval(first - 1, x@p), x@j[first] + 1L)
    value <- x@x[first]
  } else {
    at <- which(!is.finite(x), arr.ind = TRUE)
    at <- if (length(at)) at[1, ]
    value <- if (!is.null(at)) x[at[[1]], at[[2]]]
  }
  if (!is.null(at)) {
    column <- if (is.null(colnames(x))) at[[2]] else sQuote(colnames(x)[at[[2]]])
    # Rows of sparse matrices are never left out.
    advice <- if (is.na(value) && !is_sparse(x)) "; see argument na.action"
    stop("row ", rows[at[[1]]], ", column ", column, " is ", value, ": samples have finite numbers", advice, call. = FALSE)
  }
  infinite <- if (is.numeric(y)) which(is.infinite(y))
  if (length(infinite)) {
    stop("y of row ", rows[infinite[1]], " is ", y[infinite[1]], ": a response is a finite number", call. = FALSE)
  }
}

# Returns a response that is a table of one column as its column.
response_of_column <- function(y) {
  if (is.null(dim(y)) || ncol(y) != 1) return(y)
  if (is.data.frame(y)) y[[1]] else drop(y)
}

# Returns the rows to train on: a subset, without missing values. `position` has their places.
usable <- function(x, y, weights, subset, na.action) {
  n <- nrow(x)
  if (ncol(x) == 0) stop("there are no columns to train on", call. = FALSE)
  if (!is.null(y)) {
    if (!is.factor(y) && !is.atomic(y)) stop("y must be a vector or a factor", call. = FALSE)
    if (length(y) != n) stop("x has ", n, " rows, and y has ", length(y), " values", call. = FALSE)
  }
  if (length(weights)) {
    if (length(weights) != n) stop("x has ", n, " rows, and there are ", length(weights), " weights", call. = FALSE)
    check_weights(weights)
  } else {
    weights <- NULL
  }
  names <- row_names(x)
  rows <- seq_len(n)
  if (!is.null(subset)) rows <- rows_of_subset(subset, names)
  frame <- data.frame(row = rows)
  frame$y <- y[rows]
  frame$weights <- weights[rows]
  na.action <- na_function(na.action)
  # A function that fills in values takes a column for each of the matrix.
  apart <- !is_sparse(x) && anyNA(x) && !any(vapply(list(na.omit, stats::na.exclude, stats::na.fail), identical, NA, na.action))
  if (apart) {
    columns <- paste0("x.", seq_len(ncol(x)))
    frame[columns] <- x[rows, ]
  } else if (!is_sparse(x)) {
    frame$x <- x[rows, , drop = FALSE]
  }
  if (!is.null(subset)) names <- names[rows]
  attr(frame, "row.names") <- make.unique(names)
  frame <- na.action(frame)
  if (!is.data.frame(frame)) stop("na.action must return the rows that stay, as na.omit does", call. = FALSE)
  if (anyNA(frame$y)) stop("y has missing values", call. = FALSE)
  omitted <- attr(frame, "na.action")
  x <- if (is_sparse(x)) select_rows(x, frame$row) else if (apart) {
    matrix(unlist(frame[columns]), nrow(frame), dimnames = list(if (!is.null(rownames(x))) rownames(x)[frame$row], colnames(x)))
  } else {
    frame$x
  }
  if (nrow(x) == 0) stop("there are no rows to train on", call. = FALSE)
  check_finite(x, frame$y, frame$row)
  list(x = x, y = frame$y, weights = frame$weights, na.action = omitted, trained = some_of(frame$row, n),
       names = if (is.null(omitted)) names else names[-omitted])
}

# Returns which rows of `n` were trained on; NULL for all of them, in their order.
some_of <- function(rows, n) if (!identical(as.integer(rows), seq_len(n))) list(rows = as.integer(rows), of = n)

# Sets the scaled samples, the response, and the numbers of scaling.
scaled <- function(object, samples, scale) {
  x <- samples$x
  if (object$sparse) scale <- FALSE
  scale <- scale_flags(scale, ncol(x), paste("x has", ncol(x), "columns"))
  y <- samples$y
  if (any(scale)) {
    # The deviation of tiny values may be 0, too.
    varies <- apply(x[, scale, drop = FALSE], 2, function(column) isTRUE(sd(column) > 0))
    if (!all(varies)) {
      names <- if (is.null(colnames(x))) paste0("column ", which(scale)) else sQuote(colnames(x)[scale])
      warning("Variable(s) ", paste(names[!varies], collapse = " and "), " constant. Cannot scale data.", call. = FALSE)
      scale[] <- FALSE
    }
  }
  if (any(scale)) {
    object$x.scale <- scale_of(x[, scale, drop = FALSE])
    x <- apply_scale(x, scale, object$x.scale)
    if (object$type > 2 && is.numeric(y)) {
      spread <- sd(y)
      object$y.scale <- list("scaled:center" = mean(y), "scaled:scale" = if (isTRUE(spread > 0)) spread else 1)
      samples$response <- y
      y <- (y - object$y.scale[[1]]) / object$y.scale[[2]]
    }
  }
  object$scaled <- scale
  object["na.action"] <- list(samples$na.action)
  object$trained <- samples$trained
  samples$x <- x
  if (is.null(samples$response)) samples$response <- y
  samples$y <- y
  c(object, list(samples = samples))
}

# Sets the codes of the response and the levels.
coded <- function(object) {
  samples <- object$samples
  y <- samples$y
  if (object$type == 2) {
    samples$codes <- rep(1, nrow(samples$x))
  } else if (object$type > 2) {
    if (!is.numeric(y)) stop("regression needs a numeric response, and y is of class ", class(y)[1], call. = FALSE)
    samples$codes <- y
    object["levels"] <- list(unique(y))
  } else {
    if (!is.factor(y)) {
      if (is.numeric(y) && any(y != trunc(y))) {
        stop("dependent variable has to be of factor or integer type for classification mode", call. = FALSE)
      }
      y <- as.factor(y)
    }
    object$levels <- levels(y)
    codes <- as.integer(y)
    object$labels <- unique(codes)
    if (length(object$labels) < 2) {
      stop("all samples are of class ", sQuote(object$levels[object$labels]), ": a model needs two classes", call. = FALSE)
    }
    samples$codes <- ranks_of(codes, object$labels)
  }
  object$samples <- samples
  object
}

# Returns the factors of the cost by rank.
class_weights <- function(object, weights) {
  if (is.null(weights)) return(numeric())
  if (object$type > 1) {
    warning("class.weights are for classification, and are not used: with a factor y they are", call. = FALSE)
    return(numeric())
  }
  counts <- tabulate(match(codes_of(object$samples$codes, object$labels), seq_along(object$levels)), length(object$levels))
  if (identical(weights, "inverse")) weights <- setNames(1 / counts, object$levels)[counts > 0]
  if (is.null(names(weights))) stop("class.weights have the names of levels: ", paste(object$levels, collapse = ", "), call. = FALSE)
  # A list of numbers is a vector, as in e1071.
  if (is.list(weights) && all(vapply(weights, is_number, NA))) weights <- vapply(weights, as.double, 0)
  twice <- names(weights)[duplicated(names(weights))]
  if (length(twice)) stop("class.weights has two weights of level ", sQuote(twice[1]), call. = FALSE)
  at <- match(names(weights), object$levels)
  if (anyNA(at)) {
    stop("class.weights has ", paste(sQuote(names(weights)[is.na(at)]), collapse = ", "), ", and the levels are ",
         paste(object$levels, collapse = ", "), call. = FALSE)
  }
  if (!is.numeric(weights) || any(is.na(weights) | weights < 0 | weights == Inf)) {
    stop("class.weights must be finite numbers of 0 or more", call. = FALSE)
  }
  all <- rep(1, length(object$levels))
  all[at] <- as.double(weights)
  all[codes_of(seq_along(object$labels) - 1, object$labels)]
}

# Returns the options of a training for the engine.
native_options <- function(object, class.weights) {
  options <- lapply(object[c("gamma", "coef0", "cost", "nu", "cachesize", "tolerance", "epsilon")], as.double)
  options$cachesize <- max(options$cachesize, 0.1)
  options$type <- as.integer(object$type)
  options$kernel <- as.integer(object$kernel)
  options$degree <- as.integer(object$degree)
  options$shrinking <- as.logical(object$shrinking)
  options$probability <- as.logical(object$compprob)
  options$class_weights <- class_weights(object, class.weights)
  options$case_weights <- as.double(object$samples$weights)
  options
}

# Trains, and returns the object.
fit <- function(object, class.weights, cross, fitted, keep) {
  samples <- object$samples
  n <- nrow(samples$x)
  check_folds(cross, least = 0)
  fitted <- flag_of(fitted, "fitted")
  keep <- flag_of(keep, "keep")
  if (cross > n) stop("cross cannot exceed the number of observations: there are ", n, call. = FALSE)
  options <- native_options(object, class.weights)
  data <- native_data(samples$x, samples$codes)
  trained <- result_of(native_train(options, data, keep))
  if (nzchar(trained$missing)) warning("there are no probabilities: ", trained$missing, call. = FALSE)
  if (trained$lacks_margin) {
    warning("no margin is left, and decision values mean nothing: nu is too small for classes that overlap this much; raise nu", call. = FALSE)
  }
  options$keep <- keep
  options$inverse <- identical(class.weights, "inverse") && object$type <= 1
  object$engine <- new_engine(trained$model, options)
  object <- with_parts(object, samples$x, samples$codes)
  if (cross > 0) object <- cross_validated(object, options, data, cross)
  if (fitted) object <- with_fitted(object, data)
  object["samples"] <- NULL
  class(object) <- c("maxmargin_svm", "svm")
  object
}
