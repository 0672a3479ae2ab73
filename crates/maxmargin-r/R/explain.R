#' Explain decision values
#'
#' Exact Shapley values: how much each column of the samples adds to a decision value. For each
#' sample and machine, the values of all columns and the base add up to the decision value.
#'
#' @param object a model of [svm()].
#' @param newdata samples as [predict.maxmargin_svm()] takes them.
#' @param background samples that stand for unknown columns, or `NULL` for the default of the
#'   engine: a column that is not known is left out of a product kernel.
#' @param interactions whether the result has the interactions of all pairs of columns.
#' @param ... not used.
#' @return A list of class "svm_explanation": `values` (columns x machines x samples), `base` (one
#'   number for each machine), `decision.values` (samples x machines) and, if asked for,
#'   `interactions` (columns x columns x machines x samples). Values have the sign of decision
#'   values: above 0 is for the first class of a pair. Those of regression are in units of the
#'   scaled response.
#' @examples
#' model <- svm(Species ~ ., data = iris)
#' explain(model, iris[c(1, 51), ])
#' @export
explain <- function(object, ...) UseMethod("explain")

#' @rdname explain
#' @export
explain.maxmargin_svm <- function(object, newdata, background = NULL, interactions = FALSE, ...) {
  interactions <- flag_of(interactions, "interactions")
  samples <- whole_samples(object, newdata, "newdata")
  behind <- if (!is.null(background)) native_data(whole_samples(object, background, "background")$x)
  found <- result_of(native_model(object)$explain(native_data(samples$x), interactions, behind))
  columns <- colnames(samples$x)
  if (is.null(columns)) columns <- paste0("x", seq_len(ncol(samples$x)))
  machines <- machine_names(object)
  count <- c(length(columns), length(machines), length(samples$names))
  pairs <- if (interactions) {
    array(found$interactions, count[c(1, 1, 2, 3)], list(columns, columns, machines, samples$names))
  }
  structure(list(values = array(found$values, count, list(columns, machines, samples$names)),
                 base = setNames(found$base, machines),
                 decision.values = t(matrix(found$decisions, count[2], count[3], dimnames = list(machines, samples$names))),
                 interactions = pairs), class = "svm_explanation")
}

#' @export
print.svm_explanation <- function(x, digits = 3, ...) {
  for (machine in dimnames(x$values)[[2]]) {
    cat(machine, ": base ", format(x$base[[machine]], digits = digits), "\n", sep = "")
    values <- t(matrix(x$values[, machine, ], dim(x$values)[1], dimnames = dimnames(x$values)[c(1, 3)]))
    print(cbind(values, "decision value" = x$decision.values[, machine]), digits = digits)
  }
  invisible(x)
}

# Returns scaled samples none of which has a missing value in the variables of the model.
whole_samples <- function(object, data, name) {
  if (inherits(object, "svm.formula") && is.data.frame(data)) {
    data <- data[intersect(names(data), all.vars(delete.response(terms(object))))]
  }
  new_samples(object, data, stats::na.fail, name)
}
