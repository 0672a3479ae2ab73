#' Add samples to a model and remove others
#'
#' C-classification models follow an exact path from the present optimum to that of the changed
#' data, which is faster than a training where few samples change. Other models, and those with
#' probabilities, weights or `class.weights = "inverse"`, are trained again. The result is that of a
#' training on the changed data with the scale of the present model.
#'
#' @param object a model of [svm()] that keeps its data (`keep = TRUE`).
#' @param add samples to add: a data frame with the variables of the formula, or a matrix, whose
#'   columns are taken by name where it has the names of the model's.
#' @param y the response of the added samples, for a model without a formula.
#' @param remove rows of the present training data, from 1, as `index` counts them: rows that
#'   `na.action` left out do not count. Added samples come last.
#' @param weights weights of added samples; 1 without it. Samples of a model without weights have
#'   weight 1.
#' @param ... not used.
#' @return The changed model, with the element `update`: how it was made ("path" or "training"), and
#'   the numbers of rows that were added and removed.
#' @examples
#' model <- svm(Species ~ ., data = iris[-1, ])
#' model <- update_svm(model, add = iris[1, ], remove = 1:3)
#' certificate(model)
#' @export
update_svm <- function(object, add = NULL, y = NULL, remove = integer(), weights = NULL, ...) {
  if (!inherits(object, "maxmargin_svm")) stop("the first argument of update_svm is a model of svm()", call. = FALSE)
  kept <- native_model(object)$kept()
  if (is.null(kept)) stop("the model does not keep its training data: train it with keep = TRUE", call. = FALSE)
  x <- rows_of_engine(kept$rows, object$sparse)
  colnames(x) <- colnames(object$SV)
  codes <- kept$labels
  remove <- rows_to_remove(remove, nrow(x))
  added <- if (!is.null(add)) labelled_samples(object, add, y, "add")
  stays <- setdiff(seq_len(nrow(x)), remove)
  options <- object$engine$options
  options$case_weights <- changed_weights(options$case_weights, weights, nrow(x), stays, length(added$names))
  changed <- select_rows(x, stays)
  changed_codes <- codes[stays]
  if (!is.null(added)) {
    changed <- bind_rows(changed, added$x)
    changed_codes <- c(changed_codes, added$codes)
  }
  gone <- if (object$type <= 1) setdiff(seq_along(object$labels) - 1, changed_codes)
  if (length(gone)) {
    stop("no sample of class ", sQuote(object$levels[codes_of(gone[1], object$labels)]), " would be left: keep one of them, ",
         "or train a model of the other classes", call. = FALSE)
  }
  # Weights of inverse class sizes are those of the changed data.
  inverse <- isTRUE(options$inverse)
  if (inverse) options$class_weights <- 1 / tabulate(changed_codes + 1, length(object$labels))
  path <- object$type == 0 && !object$compprob && !length(options$case_weights) && !inverse
  data <- native_data(changed, changed_codes)
  result <- if (path) {
    given <- if (!is.null(added)) native_data(added$x, added$codes)
    result_of(native_model(object)$update(as.integer(remove - 1), given))
  } else {
    result_of(native_train(options, data, TRUE))
  }
  object$engine <- new_engine(result$model, options)
  names <- if (is.null(object$fitted)) as.character(seq_len(nrow(x))) else names(object$fitted)
  object <- with_parts(object, changed, changed_codes)
  changed_again(object, data, changed_codes, c(names[stays], added$names), list(
    method = if (path) "path" else "training", added = length(added$names), removed = length(remove)))
}

# Returns the weights of the samples that stay and of those that are added; none if all are 1. `kept`
# are the weights of the model's samples.
changed_weights <- function(kept, weights, rows, stays, added) {
  if (is.null(weights)) weights <- rep(1, added)
  if (length(weights) != added) {
    stop("there are ", added, " samples to add, and ", length(weights), " weights", call. = FALSE)
  }
  check_weights(weights)
  if (anyNA(weights)) stop("weights must be finite numbers of 0 or more", call. = FALSE)
  if (!length(kept)) {
    if (all(weights == 1)) return(numeric())
    kept <- rep(1, rows)
  }
  c(kept[stays], as.double(weights))
}

# Returns the numbers of rows to remove, each once.
rows_to_remove <- function(remove, rows) {
  if (is.null(remove)) return(integer())
  if (!is.numeric(remove) || anyNA(remove) || any(remove != trunc(remove) | remove < 1 | remove > rows)) {
    stop("remove has numbers of rows from 1 to ", rows, call. = FALSE)
  }
  if (anyDuplicated(remove)) stop("row ", remove[duplicated(remove)][1], " is removed twice", call. = FALSE)
  remove
}

# Sets what follows from the changed samples, and drops what belongs to the old ones.
changed_again <- function(object, data, codes, names, update) {
  response <- if (object$type > 2) response_of(object, codes)
  if (!is.null(object$fitted)) {
    object$samples <- list(names = names, response = response)
    object <- with_fitted(object, data)
    object["samples"] <- NULL
  }
  object["na.action"] <- list(NULL)
  object$trained <- NULL
  old <- c("MSE", "tot.MSE", "scorrcoeff", "accuracies", "tot.accuracy", "cross.certificates")
  object[old] <- NULL
  object$update <- update
  object
}
