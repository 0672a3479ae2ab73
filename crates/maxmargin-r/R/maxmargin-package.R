#' Exact support vector machines with certificates of optimality
#'
#' The functions of package e1071 for support vector machines, with the same arguments, defaults
#' and objects, on an engine that proves its results: [svm()], its `predict`, `print`, `summary`,
#' `plot` and `coef`, and [tune_svm()]. [certificate()] and [verify()] tell how close a model is to
#' the optimum, [update_svm()] adds and removes samples, and [explain()] tells how much each
#' variable adds to a decision value.
#'
#' Work runs on threads of its own ([svm_threads()]). Esc and Ctrl-C end it.
#'
#' @keywords internal
#' @importClassesFrom Matrix dgRMatrix
#' @importFrom grDevices hcl.colors palette
#' @importFrom methods as new
#' @importFrom stats coef fitted model.frame model.matrix model.response na.omit napredict predict
#' @importFrom stats delete.response terms sd setNames
#' @importFrom utils combn write.table
"_PACKAGE"
