# Work of the engine: R waits, and Esc or Ctrl-C cancels.

# The longest wait in milliseconds between two checks for interrupts.
interrupt_interval <- 20L

# Waits for a job and returns its result. An interrupt of the user cancels it: `Sys.sleep` is where
# R processes events and interrupts.
result_of <- function(job) {
  force(job)
  ended <- FALSE
  on.exit(if (!ended) job$cancel())
  while (!job$wait(interrupt_interval)) Sys.sleep(0)
  ended <- TRUE
  for (fallback in native_fallbacks()) warning(fallback, call. = FALSE)
  job$take()
}

# An engine holds a model of the native code and its bytes, which survive `saveRDS`.
new_engine <- function(pointer, options) {
  engine <- new.env(parent = emptyenv())
  engine$model <- .savvy_wrap_Model(pointer)
  engine$bytes <- engine$model$bytes()
  engine$options <- options
  engine
}

# Returns the native model of an object. A model from a file of R is decoded at its first use.
native_model <- function(object) {
  engine <- object$engine
  if (is.null(engine)) {
    stop("the model has no engine: it is not one of maxmargin::svm()", call. = FALSE)
  }
  if (!is_alive(engine$model)) engine$model <- Model$from_bytes(engine$bytes)
  engine$model
}

# Pointers to native memory are nil in a session that loads an object.
is_alive <- function(model) {
  nil <- new("externalptr")
  !identical(model$.ptr, nil)
}

# Returns the samples of a matrix or of sparse rows for the engine, with numbers as targets.
native_data <- function(x, y = NULL) {
  if (!is.null(y)) y <- as.double(y)
  if (is_sparse(x)) return(Data$sparse(as.double(x@x), x@j, x@p, ncol(x), y))
  storage.mode(x) <- "double"
  Data$dense(as.vector(x), nrow(x), y)
}

#' The number of threads
#'
#' Trainings and predictions run on threads of their own. Results do not depend on their number.
#'
#' @param count the new number of threads, or `NULL` to leave it.
#' @return the number of threads, invisibly if it was set. It is that of the environment variable
#'   `MAXMARGIN_NUM_THREADS`, else of the processors.
#' @examples
#' svm_threads()
#' @export
svm_threads <- function(count = NULL) {
  if (is.null(count)) return(native_threads())
  if (!is_number(count) || !are_counts(count)) stop("count must be a whole number of threads, and is ", in_words(count), call. = FALSE)
  native_set_threads(as.integer(count))
  invisible(native_threads())
}
