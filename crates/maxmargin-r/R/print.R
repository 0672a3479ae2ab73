#' @export
print.maxmargin_svm <- function(x, ...) {
  line <- function(name, value) cat(sprintf("%11s:  ", name), value, "\n", sep = "")
  cat("\nCall:", deparse(x$call, 0.8 * getOption("width")), "\n", sep = "\n")
  cat("Parameters:\n")
  line("SVM-Type", types[x$type + 1])
  line("SVM-Kernel", kernels[x$kernel + 1])
  if (x$type %in% c(0, 3, 4)) line("cost", x$cost)
  if (x$kernel == 1) line("degree", x$degree)
  if (x$kernel > 0) line("gamma", x$gamma)
  if (x$kernel %in% c(1, 3)) line("coef.0", x$coef0)
  if (x$type %in% c(1, 2, 4)) line("nu", x$nu)
  if (x$type == 3) line("epsilon", x$epsilon)
  if (!is.null(x$sigma)) line("sigma", format(x$sigma))
  cat("\nNumber of Support Vectors:  ", x$tot.nSV, "\n", sep = "")
  cat("Certificate:  ", certificate_sentence(x$certificate, x$tolerance), "\n\n", sep = "")
  invisible(x)
}

# One line about the worst machine.
certificate_sentence <- function(table, tolerance) {
  short <- function(value) format(value, digits = 2)
  # The solver stalls at a tolerance below rounding, with a violation within it.
  hidden <- !table$holds & table$status == "stalled" & table$kkt <= tolerance
  if (any(hidden) && all(table$holds | hidden)) {
    return(paste0("rounding hides whether the KKT violation ", short(max(table$kkt)), " is within the tolerance ",
                  short(tolerance), ": scale the features"))
  }
  if (!all(table$holds)) {
    failed <- sum(!table$holds)
    return(paste0("NOT optimal: ", failed, " of ", nrow(table), " machine(s) violate the conditions by more than ",
                  short(tolerance), " (", paste(unique(table$status[!table$holds]), collapse = ", "), ")"))
  }
  paste0("optimal within KKT ", short(max(table$kkt)), " (tolerance ", short(tolerance), "), duality gap ",
         short(max(table$relative_gap)))
}

#' @export
summary.maxmargin_svm <- function(object, ...) structure(object, class = "summary.maxmargin_svm")

#' @export
print.summary.maxmargin_svm <- function(x, ...) {
  print.maxmargin_svm(x)
  if (x$type < 2) {
    cat(" (", x$nSV, ")\n\n")
    cat("\nNumber of Classes: ", x$nclasses, "\n\n")
    cat("Levels:", "\n", x$levels, "\n\n")
  }
  if (x$type == 2) cat("Number of Classes: 1\n\n")
  folds <- if (is.null(x$cross.certificates)) 0 else nrow(x$cross.certificates)
  if (folds) cat(folds, "-fold cross-validation on training data:\n\n", sep = "")
  if (!is.null(x$MSE)) {
    cat("Total Mean Squared Error:", x$tot.MSE, "\n")
    cat("Squared Correlation Coefficient:", x$scorrcoeff, "\n")
    cat("Mean Squared Errors:\n", x$MSE, "\n\n")
  }
  if (!is.null(x$accuracies)) {
    cat("Total Accuracy:", x$tot.accuracy, "\n")
    cat("Single Accuracies:\n", x$accuracies, "\n\n")
  }
  if (folds) cat("Certificates of folds: ", sum(x$cross.certificates$holds), " of ", folds, " hold\n\n", sep = "")
  invisible(x)
}
