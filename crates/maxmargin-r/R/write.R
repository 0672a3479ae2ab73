#' Write a model as LIBSVM's file
#'
#' The model file is that of LIBSVM's programs, with levels as numbers (their order in
#' `object$levels`). Its support vectors are scaled: samples to predict need the numbers of the
#' scale files.
#'
#' @param object a model of [svm()].
#' @param svm.file the name of the model file.
#' @param scale.file,yscale.file the names of files with the centre and the scale of each column,
#'   and of the response of a regression. They are written if the model has such numbers.
#' @return nothing.
#' @examples
#' model <- svm(Species ~ ., data = iris)
#' files <- file.path(tempdir(), c("model", "scale"))
#' write.svm(model, files[1], files[2])
#' readLines(files[1], 8)
#' unlink(files)
#' @export
write.svm <- function(object, svm.file = "Rdata.svm", scale.file = "Rdata.scale", yscale.file = "Rdata.yscale") {
  if (!inherits(object, "maxmargin_svm")) stop("the first argument of write.svm is a model of svm()", call. = FALSE)
  check_file(svm.file, "svm.file")
  if (!is.null(object$x.scale)) check_file(scale.file, "scale.file")
  if (!is.null(object$y.scale)) check_file(yscale.file, "yscale.file")
  text <- function(values) paste(sprintf("%.17g", values), collapse = " ")
  header <- c(
    paste("svm_type", c("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")[object$type + 1]),
    paste("kernel_type", c("linear", "polynomial", "rbf", "sigmoid")[object$kernel + 1]),
    if (object$kernel == 1) paste("degree", object$degree),
    if (object$kernel > 0) paste("gamma", text(object$gamma)),
    if (object$kernel %in% c(1, 3)) paste("coef0", text(object$coef0)),
    paste("nr_class", object$nclasses), paste("total_sv", object$tot.nSV), paste("rho", text(object$rho)),
    if (object$type < 2) paste("label", paste(object$labels, collapse = " ")),
    if (length(object$probA)) c(paste("probA", text(object$probA)), paste("probB", text(object$probB))),
    if (object$type < 2) paste("nr_sv", paste(object$nSV, collapse = " ")), "SV"
  )
  vectors <- as.matrix(object$SV)
  rows <- vapply(seq_len(object$tot.nSV), function(row) {
    values <- vectors[row, ]
    used <- which(values != 0)
    paste(c(text(object$coefs[row, ]), if (length(used)) paste0(used, ":", sprintf("%.17g", values[used]))), collapse = " ")
  }, "")
  writeLines(c(header, rows), svm.file)
  table <- function(scale, file) {
    write.table(as.data.frame(scale), file, col.names = FALSE, row.names = FALSE)
  }
  if (!is.null(object$x.scale)) table(object$x.scale, scale.file)
  if (!is.null(object$y.scale)) table(object$y.scale, yscale.file)
  invisible()
}
