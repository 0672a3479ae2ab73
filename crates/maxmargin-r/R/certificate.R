#' The certificate of a model
#'
#' Every training ends with a certificate: from the coefficients alone, kernel values are computed
#' again in double precision, and from these the primal and the dual objective and the violation of
#' the optimality conditions.
#'
#' @param object a model of [svm()], or a result of [tune_svm()].
#' @param ... not used.
#' @return A data frame with a row for each machine (a pair of classes): `primal` and `dual`
#'   objective, `relative_gap`, the KKT violation `kkt`, the violation of constraints `infeasible`,
#'   whether the certificate `holds` (`kkt` is at most the tolerance), the `status` of the solver and
#'   its `iterations`.
#' @examples
#' certificate(svm(Species ~ ., data = iris))
#' @export
certificate <- function(object, ...) UseMethod("certificate")

#' @rdname certificate
#' @export
certificate.maxmargin_svm <- function(object, ...) object$certificate

#' @rdname certificate
#' @export
certificate.maxmargin_tune <- function(object, ...) {
  if (is.null(object$best.model)) stop("the search has no model: search with best.model = TRUE", call. = FALSE)
  certificate(object$best.model)
}

#' @export
print.svm_certificate <- function(x, digits = 4, ...) {
  print.data.frame(x, digits = digits, row.names = FALSE, ...)
  invisible(x)
}

#' Verify a model against its training data
#'
#' Everything that a model claims is computed again, in double precision, from its coefficients and
#' the data: that its support vectors are rows of the data, its objectives, its gap and its KKT
#' violation.
#'
#' @param object a model of [svm()].
#' @param data the training data: what [svm()] took, as `data` of the formula or as `x`. Rows that
#'   the training left out are left out again. Without it, the data that the model keeps.
#' @param y the response, for a model without a formula.
#' @param ... not used.
#' @return A list of class "svm_verdict": `matches` (every claim is right), `met` (every machine is
#'   optimal within the tolerance), `checks` (a data frame of the claims) and `certificate`.
#' @examples
#' model <- svm(Species ~ ., data = iris)
#' verify(model)
#' other <- iris
#' other[1, 1] <- 9
#' verify(model, other)$matches
#' @export
verify <- function(object, ...) UseMethod("verify")

#' @rdname verify
#' @export
verify.maxmargin_svm <- function(object, data = NULL, y = NULL, ...) {
  given <- if (!is.null(data)) {
    samples <- trained_samples(object, data, y)
    native_data(samples$x, samples$codes)
  }
  found <- result_of(native_model(object)$verify(given))
  names <- machine_names(object)
  table <- found$certificates
  names <- if (length(table$kkt) == length(names)) names else character(length(table$kkt))
  structure(list(matches = found$matches, met = found$met,
                 checks = data.frame(check = found$check, result = found$result, detail = in_levels(object, found)),
                 certificate = certificate_table(table, names)), class = "svm_verdict")
}

#' @export
print.svm_verdict <- function(x, ...) {
  verdict <- if (!x$matches) "The model does not match the data" else if (!x$met) "The model is not optimal" else
    "The model is what it claims: optimal"
  cat(verdict, "\n\n", sep = "")
  print(x$checks, right = FALSE, row.names = FALSE)
  cat("\n")
  if (nrow(x$certificate)) print(x$certificate)
  invisible(x)
}

# Returns the details of a verification in the words of R. The engine numbers classes, machines and
# support vectors from 0, and calls data a text: it verifies files.
in_levels <- function(object, found) {
  detail <- found$detail
  detail[found$check == "data hash" & found$result == "MISMATCH"] <-
    "these are other data, or another order of rows, than the model was trained on"
  detail <- sub("; calibrate computes it again", "", detail, fixed = TRUE)
  detail <- replaced(detail, "(?<=^support vector )\\d+", function(number) number + 1)
  if (object$type > 1) return(detail)
  detail <- replaced(detail, "(?<= of )machine \\d+", function(number) machine_names(object)[number + 1])
  level <- function(numbers) object$levels[codes_of(numbers, object$labels)]
  detail <- replaced(detail, "(?<=that of )\\d+ and \\d+", function(numbers) paste(level(numbers), collapse = "/"))
  classes <- found$check == "classes"
  # The number of classes that are not listed is no class.
  detail[classes] <- replaced(detail[classes], "\\d+(?=,|;| and|$)", level)
  detail
}

# Replaces what matches a pattern by what a function makes of the numbers in it.
replaced <- function(text, pattern, change) {
  at <- gregexpr(pattern, text, perl = TRUE)
  numbers <- function(part) as.integer(regmatches(part, gregexpr("[0-9]+", part))[[1]])
  regmatches(text, at) <- lapply(regmatches(text, at), vapply, function(part) as.character(change(numbers(part))), "")
  text
}

# Returns the samples of the training from the data that `svm` took: a subset, without what na.action
# left out.
trained_samples <- function(object, data, y) {
  trained <- object$trained
  if (length(dim(data)) == 2 && identical(nrow(data), trained$of)) {
    y <- response_of_column(y)
    y <- if (length(y) == trained$of) y[trained$rows] else y
    data <- if (is.data.frame(data)) data[trained$rows, , drop = FALSE] else select_rows(rows_of(data, "data"), trained$rows)
  }
  labelled_samples(object, data, y)
}

# Returns scaled samples and their numbers for the engine, from data as `svm` takes them.
labelled_samples <- function(object, data, y = NULL, name = "data") {
  if (inherits(object, "svm.formula")) {
    # The data of a formula may be a list of its variables.
    if (!is.list(data) || is.null(names(data))) check_table(data, name)
    frame <- model.frame(terms(object), as.data.frame(data), na.action = na.omit, xlev = object$xlevels)
    y <- model.response(frame)
    x <- columns_of(object, frame)
    check_finite(x, y, seq_len(nrow(x)))
  } else {
    samples <- usable(rows_of(data, name), response_of_column(y), NULL, NULL, na.omit)
    x <- by_name(samples$x, colnames(object$SV))
    y <- samples$y
  }
  if (ncol(x) != ncol(object$SV)) {
    stop("the data have ", ncol(x), " columns, and the model has ", ncol(object$SV), call. = FALSE)
  }
  codes <- if (object$type == 2) rep(1, nrow(x)) else numbers_of(object, y)
  list(x = apply_scale(x, object$scaled, object$x.scale), codes = codes, names = row_names(x))
}

# Returns columns in the order of these names, where these are the names that the columns have.
by_name <- function(x, names) {
  same <- !is.null(names) && !anyDuplicated(names) && !anyDuplicated(colnames(x)) && setequal(colnames(x), names)
  if (!same || identical(colnames(x), names)) return(x)
  # Package Matrix returns chosen columns in a class of its own.
  if (is_sparse(x)) rows_of(x[, names, drop = FALSE]) else x[, names, drop = FALSE]
}

# Returns the numbers that the engine knows for a response.
numbers_of <- function(object, y) {
  if (is.null(y)) stop("the response of the data is missing: give argument y", call. = FALSE)
  if (object$type > 2) {
    if (!is.numeric(y)) stop("the model is a regression, and y is of class ", class(y)[1], call. = FALSE)
    if (!is.null(object$y.scale)) y <- (y - object$y.scale[[1]]) / object$y.scale[[2]]
    return(as.double(y))
  }
  codes <- match(as.character(y), object$levels)
  known <- codes %in% object$labels
  if (!all(known)) {
    stop("class ", sQuote(as.character(y)[!known][1]), " is not one of the model's: ",
         paste(object$levels[object$labels], collapse = ", "), call. = FALSE)
  }
  ranks_of(codes, object$labels)
}
