#' Predictions of a support vector machine
#'
#' @aliases predict.svm
#' @param object a model of [svm()].
#' @param newdata a data frame with the variables of the formula, or samples as [svm()] takes them.
#'   Without it, the fitted values.
#' @param decision.values whether the result has the attribute "decision.values": a matrix with
#'   a column "a/b" for each pair of classes. A positive value is for class a.
#' @param probability whether the result has the attribute "probabilities", for a model that was
#'   trained with `probability = TRUE`. Classes are then those of the greatest probability.
#' @param na.action what to do with rows that have missing values: `na.omit` leaves them out, and
#'   `na.exclude` predicts `NA`.
#' @param ... not used.
#'
#' @return A factor for classification, `TRUE` for members of a single class, numbers for
#'   regression; with the names of the rows.
#'
#' @examples
#' model <- svm(Species ~ ., data = iris, probability = TRUE)
#' predict(model, iris[c(1, 51, 101), ], decision.values = TRUE, probability = TRUE)
#' @export
predict.maxmargin_svm <- function(object, newdata, decision.values = FALSE, probability = FALSE, ...,
                                  na.action = na.omit) {
  if (missing(newdata)) return(fitted(object))
  decision.values <- flag_of(decision.values, "decision.values")
  probability <- flag_of(probability, "probability")
  if (probability && object$type < 2 && is.null(object$probA)) {
    warning("SVM has not been trained using `probability = TRUE`, probabilities not available for predictions.")
  }
  probability <- probability && object$type < 2 && !is.null(object$probA)
  samples <- new_samples(object, newdata, na.action)
  found <- predicted(object, native_data(samples$x), decision.values, probability)
  result <- napredict(samples$na.action, setNames(found$response, samples$names))
  matrix_of <- function(values, columns) {
    dimnames(values) <- list(samples$names, columns)
    napredict(samples$na.action, values)
  }
  if (decision.values) attr(result, "decision.values") <- matrix_of(found$decision.values, machine_names(object))
  if (probability) attr(result, "probabilities") <- matrix_of(found$probabilities, object$levels[object$labels])
  result
}

# Returns the scaled samples of new data, without the rows that `na.action` leaves out.
new_samples <- function(object, newdata, na.action, name = "newdata") {
  na.action <- na_function(na.action)
  if (is.atomic(newdata) && !is.null(newdata) && is.null(dim(newdata))) {
    newdata <- if (inherits(object, "svm.formula")) as.matrix(newdata) else rows_of(as.vector(newdata), name)
  }
  sparse <- inherits(newdata, c("Matrix", "matrix.csr", "simple_triplet_matrix"))
  formula <- inherits(object, "svm.formula") && !sparse
  if (formula) check_table(newdata, name) else newdata <- rows_of(newdata, name)
  if (formula && is.null(colnames(newdata))) colnames(newdata) <- labels(terms(object))[seq_len(ncol(newdata))]
  names <- row_names(newdata)
  rows <- seq_along(names)
  if (!sparse) newdata <- na.action(newdata)
  if (length(dim(newdata)) != 2) stop("na.action must return the rows that stay, as na.omit does", call. = FALSE)
  # Rows that were left out before have an attribute as well.
  omitted <- if (!sparse && nrow(newdata) < length(names)) attr(newdata, "na.action")
  if (!is.null(omitted)) {
    names <- names[-omitted]
    rows <- rows[-omitted]
  }
  x <- if (formula) model_rows(object, as.data.frame(newdata)) else newdata
  if (ncol(x) != ncol(object$SV)) {
    stop("test data does not match model: it has ", ncol(x), " columns, and the model has ", ncol(object$SV), call. = FALSE)
  }
  if (!formula) warn_of_order(colnames(x), colnames(object$SV))
  check_finite(x, NULL, rows)
  list(x = apply_scale(x, object$scaled, object$x.scale), na.action = omitted, names = names)
}

# Warns if columns have the names of the model's in another order.
warn_of_order <- function(names, trained) {
  if (length(names) && length(trained) && !identical(names, trained) && setequal(names, trained)) {
    warning("the columns of newdata have another order than those of the training, and are taken by position: ",
            "use newdata[, colnames(model$SV)]", call. = FALSE)
  }
}

# Returns the columns that a formula makes of new data.
model_rows <- function(object, data) {
  terms <- delete.response(terms(object))
  columns_of(object, model.frame(terms, data, na.action = stats::na.pass, xlev = object$xlevels))
}

# Returns the columns that a formula makes of a model frame.
columns_of <- function(object, frame) {
  terms <- delete.response(terms(object))
  x <- model.matrix(terms, with_types(terms, frame), contrasts.arg = object$contrasts)
  attr(x, "assign") <- attr(x, "contrasts") <- NULL
  x
}

# Stops at data that a formula cannot look its variables up in.
check_table <- function(data, name) {
  if (!is.data.frame(data) && !(is.atomic(data) && length(dim(data)) == 2)) {
    stop(name, " must be a data frame with the variables of the formula, or a matrix, and is of class ",
         paste(class(data), collapse = ", "), call. = FALSE)
  }
}

# Returns a model frame with variables of the types that the training had. A matrix has numbers in
# place of TRUE and FALSE. Factors and texts have become factors with the levels of the training.
with_types <- function(terms, frame) {
  types <- attr(terms, "dataClasses")
  for (name in intersect(names(types), names(frame))) {
    old <- types[[name]]
    new <- stats::.MFclass(frame[[name]])
    words <- c("factor", "ordered", "character")
    if (old == new || old == "other" || (old %in% words && new %in% words)) next
    if (old == "numeric" && new == "logical") {
      frame[[name]] <- as.numeric(frame[[name]])
    } else if (old == "logical" && new == "numeric" && all(frame[[name]] %in% c(0, 1, NA))) {
      frame[[name]] <- frame[[name]] == 1
    } else {
      stop("variable ", sQuote(name), " is ", new, ", and was ", old, " in the training data", call. = FALSE)
    }
  }
  frame
}

#' @export
fitted.maxmargin_svm <- function(object, ...) {
  if (is.null(object$fitted)) stop("the model has no fitted values: train it with fitted = TRUE, or predict", call. = FALSE)
  napredict(object$na.action, object$fitted)
}

#' @export
residuals.maxmargin_svm <- function(object, ...) stats::naresid(object$na.action, object$residuals)

#' @export
coef.maxmargin_svm <- function(object, ...) {
  if (object$kernel != 0 || object$nclasses > 2) {
    stop("coefficients are those of a linear kernel, for regression or two classes", call. = FALSE)
  }
  weights <- drop(as.matrix(Matrix::crossprod(object$coefs, object$SV)))
  if (is.null(names(weights))) names(weights) <- colnames(object$SV)
  c("(Intercept)" = -object$rho, weights)
}

# Returns a column of probabilities for each level: 0 for those without a sample in the training.
chances_of <- function(probabilities, levels) {
  chances <- matrix(0, nrow(probabilities), length(levels), dimnames = list(rownames(probabilities), levels))
  known <- intersect(levels, colnames(probabilities))
  chances[, known] <- probabilities[, known]
  chances
}
