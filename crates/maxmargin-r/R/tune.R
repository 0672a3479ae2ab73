#' Search for the parameters of a support vector machine
#'
#' Cross-validates every combination of parameters over the same folds, as `tune.svm` in package
#' e1071. All values of `cost` share their kernel values and start from solutions that exist, and
#' each fold has a certificate, so that a search takes a fraction of the time of its trainings.
#'
#' @param x a formula, or samples as [svm()] takes them.
#' @param y the response, without a formula. For one-classification it says which samples are
#'   members of the class: TRUE or FALSE, 1 or -1, or a factor of these.
#' @param data the data frame of the formula.
#' @param degree,gamma,coef0,cost,nu,epsilon vectors of values to try. Parameters without values are
#'   those of [svm()]. Degrees are whole numbers.
#' @param cross the number of folds. With the same seed they are those of e1071.
#' @param fix the share of the samples to train on, with the others for one validation, in place of
#'   folds.
#' @param best.model whether the result has a model of the best parameters.
#' @param tunecontrol an object of `tune.control` in package e1071: its `cross`, `sampling` ("cross"
#'   or "fix"), `fix`, `best.model` and `performances` replace the arguments. `tune.control` of
#'   this package has the same arguments.
#' @param performances whether the result has the table of all combinations.
#' @param random,nrepeat,sampling.aggregate,sampling.dispersion,error.fun arguments of e1071's
#'   `tune.control` that `tune_svm` takes at their defaults alone.
#' @param repeat.aggregate,nboot,boot.size arguments of e1071's `tune.control` for repetitions and
#'   samples of the bootstrap, which `tune_svm` does not make.
#' @param sampling "cross" or "fix".
#' @param ... other arguments of [svm()], such as `kernel`, `type`, `scale` and `class.weights`.
#'
#' @return A list of class "tune" with the elements of e1071's: `best.parameters`,
#'   `best.performance`, `performances` (with the mean error of the folds, its standard deviation as
#'   `dispersion`, and the largest KKT violation of all folds as `kkt`), `best.model`, `train.ind`
#'   and others. Errors are shares of wrong classes, or mean squared errors; `measure` says which.
#'   `tune.svm` is another name of `tune_svm`, and `best.svm` returns the best model.
#'
#' @section One class:
#' All samples are trained on, whether `y` has them as members of the class or not. The error is the
#' share of samples where the prediction differs from `y`. Without `y`, it is the share of samples
#' outside the class that the model learned: it measures nothing but how wide that class is, so that
#' the smallest error need not be the best model.
#'
#' @section Differences from e1071:
#' Samples are scaled once and not for each fold, as `svm(cross =)` does in both packages.
#' @examples
#' found <- tune_svm(Species ~ ., data = iris, gamma = 2^(-1:1), cost = 2^(2:4))
#' found
#' found$performances
#' @export
tune_svm <- function(x, y = NULL, data = NULL, degree = NULL, gamma = NULL, coef0 = NULL, cost = NULL, nu = NULL,
                     epsilon = NULL, cross = 10, fix = NULL, best.model = TRUE, tunecontrol = NULL, ...) {
  call <- match.call()
  if (!is.null(tunecontrol)) {
    check_control(tunecontrol)
    cross <- tunecontrol$cross
    if (tunecontrol$sampling == "fix") fix <- tunecontrol$fix
    best.model <- tunecontrol$best.model
  }
  best.model <- flag_of(best.model, "best.model")
  keeps_performances <- is.null(tunecontrol) || !isFALSE(tunecontrol$performances)
  formula <- inherits(x, "formula")
  # Arguments of the model frame are expressions over the data.
  dots <- match.call(expand.dots = FALSE)$...
  caller <- parent.frame()
  framed <- if (formula) intersect(names(dots), c("subset", "weights"))
  extra <- lapply(dots[setdiff(names(dots), framed)], eval, caller)
  check_extra(names(extra), formula)
  if (formula) {
    call_of_frame <- as.call(c(as.name("svm"), list(formula = x, data = data), dots[framed]))
    na.action <- if (is.null(extra$na.action)) na.omit else extra$na.action
    found <- formula_samples(call_of_frame, caller, x, data, na.action, if (is.null(extra$scale)) TRUE else extra$scale)
    samples <- found[c("x", "y", "scale", "weights")]
  } else {
    samples <- list(x = x, y = y)
  }
  ranges <- list(degree = degree, gamma = gamma, coef0 = coef0, cost = cost, nu = nu, epsilon = epsilon)
  ranges <- ranges[!vapply(ranges, is.null, NA)]
  check_ranges(ranges)
  class.weights <- extra$class.weights
  problem <- do.call(svm_problem, c(samples, extra[setdiff(names(extra), c("class.weights", names(samples)))]))
  n <- nrow(problem$samples$x)
  folds <- if (is.null(fix)) tuning_folds(n, cross) else fixed_fold(n, fix)
  truth <- truth_of(problem)
  performances <- grid_performances(problem, truth, class.weights, folds, ranges)
  best <- which.min(performances$error)
  parameters <- performances[best, names(ranges), drop = FALSE]
  result <- list(best.parameters = parameters, best.performance = performances$error[best], method = "svm",
                 nparcomb = nrow(performances), train.ind = lapply(split(seq_len(n), folds), function(test) setdiff(seq_len(n), test)),
                 sampling = if (!is.null(fix)) "fixed training/validation set" else if (cross == n) "leave-one-out" else
                   paste0(cross, "-fold cross validation"), measure = measure_of(problem), performances = performances)
  if (!is.null(fix)) result$train.ind <- result$train.ind["0"]
  if (!keeps_performances) result$performances <- NULL
  if (best.model) {
    given <- if (formula) list(x, data = data) else list(x, y)
    result$best.model <- eval(as.call(c(svm, given, as.list(parameters), extra, dots[framed])), caller)
    call[[1L]] <- as.name("tune_svm")
    result$best.model$call <- call
  }
  structure(result, class = c("maxmargin_tune", "tune"))
}

#' @rdname tune_svm
#' @export
tune.svm <- tune_svm

#' @rdname tune_svm
#' @export
best.svm <- function(x, ...) {
  call <- match.call()
  call[[1L]] <- quote(maxmargin::tune_svm)
  found <- eval(call, parent.frame())
  found$best.model
}

#' @rdname tune_svm
#' @export
tune.control <- function(random = FALSE, nrepeat = 1, repeat.aggregate = mean, sampling = c("cross", "fix", "bootstrap"),
                         sampling.aggregate = mean, sampling.dispersion = sd, cross = 10, fix = 2 / 3, nboot = 10,
                         boot.size = 9 / 10, best.model = TRUE, performances = TRUE, error.fun = NULL) {
  control <- list(random = random, nrepeat = nrepeat, repeat.aggregate = repeat.aggregate, sampling = match.arg(sampling),
                  sampling.aggregate = sampling.aggregate, sampling.dispersion = sampling.dispersion, cross = cross,
                  fix = fix, nboot = nboot, boot.size = boot.size, best.model = best.model,
                  performances = performances, error.fun = error.fun)
  structure(control, class = "tune.control")
}

# A search that would ignore what it was asked for is an error.
check_control <- function(control) {
  if (!inherits(control, "tune.control")) {
    stop("tunecontrol must be a result of tune.control(), and is of class ", class(control)[1], call. = FALSE)
  }
  if (control$sampling == "fix" && is.null(control$fix)) stop("fix is missing: it is a share of the samples", call. = FALSE)
  other <- c(
    sampling = control$sampling == "bootstrap", random = !isFALSE(control$random), nrepeat = control$nrepeat != 1,
    error.fun = !is.null(control$error.fun), sampling.aggregate = !identical(control$sampling.aggregate, mean),
    sampling.dispersion = !identical(control$sampling.dispersion, sd)
  )
  if (any(other)) {
    stop("tune_svm takes the default of ", paste(names(other)[other], collapse = ", "), " alone", call. = FALSE)
  }
}

# Stops at values that no training takes.
check_ranges <- function(ranges) {
  for (name in names(ranges)) {
    values <- ranges[[name]]
    if (!is.numeric(values) || !length(values) || any(!is.finite(values))) {
      stop(name, " must be numbers to try, and is ", in_words(values), call. = FALSE)
    }
  }
  if (!is.null(ranges$degree)) check_degree(ranges$degree)
  if (any(ranges$cost <= 0)) stop("cost must be above 0, and one is ", ranges$cost[ranges$cost <= 0][1], call. = FALSE)
}

# A search takes the arguments of `svm`, those that choose its samples included.
check_extra <- function(names, formula) {
  samples <- if (formula) c("na.action", "scale") else c("weights", "subset")
  known <- c(setdiff(names(formals(svm.default)), c("x", "y", "...", "cross")), samples)
  unknown <- setdiff(names, known)
  if (length(unknown)) {
    stop("tune_svm has no argument ", paste(sQuote(unknown), collapse = ", "),
         if (any(grepl("^validation", unknown))) ": a validation set is a share of the samples (fix)", call. = FALSE)
  }
}

# Returns the fold of each row, from 0: parts of a permutation, as e1071 makes them.
tuning_folds <- function(n, cross) {
  check_folds(cross, least = 2)
  if (cross > n) stop("cross must be from 2 to the number of samples, ", n, call. = FALSE)
  fold <- integer(n)
  fold[sample(n)] <- cut(seq_len(n), breaks = cross, labels = FALSE) - 1L
  fold
}

# Returns 0 for the rows of the validation, and -1 for those to train on.
fixed_fold <- function(n, share) {
  if (!is_number(share) || trunc(n * share) < 1 || trunc(n * share) >= n) {
    stop("fix must be a share of the ", n, " samples that leaves some of them to train on and some to validate, and is ",
         in_words(share), call. = FALSE)
  }
  fold <- integer(n)
  fold[sample(n)[seq_len(trunc(n * share))]] <- -1L
  fold
}

# Returns the numbers that predictions are measured against.
truth_of <- function(problem) {
  y <- problem$samples$y
  if (problem$type != 2 || is.null(y)) return(problem$samples$codes)
  if (is.logical(y)) return(ifelse(y, 1, -1))
  numbers <- c("TRUE" = 1, "FALSE" = -1, "1" = 1, "-1" = -1)[as.character(y)]
  if (anyNA(numbers)) {
    stop("one-classification needs a y that says which samples are members of the class, as TRUE or FALSE or as 1 or -1, ",
         "and one value is ", sQuote(as.character(y)[is.na(numbers)][1]), call. = FALSE)
  }
  unname(numbers)
}

# What an error of classes and one of regression are, as everywhere.
usual_measures <- c("share of wrong classes", "mean squared error")

# Returns what the errors of a search are.
measure_of <- function(problem) {
  if (problem$type != 2) return(usual_measures[if (problem$type > 2) 2 else 1])
  if (is.null(problem$samples$y)) return("share of samples outside the class: there is no y to compare with")
  "share of samples where the prediction differs from y"
}

# Returns a row for each combination of parameters, with its error against `truth`.
grid_performances <- function(problem, truth, class.weights, folds, ranges) {
  tested <- folds >= 0
  scale <- if (is.null(problem$y.scale)) 1 else problem$y.scale[[2]]^2
  error_of <- function(predicted) {
    errors <- if (problem$type > 2) (predicted - truth)^2 * scale else as.double(predicted != truth)
    by_fold <- as.vector(tapply(errors[tested], folds[tested], mean))
    c(mean(by_fold), sd(by_fold))
  }
  table <- if (length(ranges)) expand.grid(ranges) else data.frame(row.names = 1L)
  table$error <- table$dispersion <- table$kkt <- rep(NA_real_, nrow(table))
  inner <- intersect(names(ranges), c("cost", "gamma"))
  outer <- setdiff(names(ranges), inner)
  # A kernel or formulation for each outer combination; the engine takes all costs and gammas.
  groups <- if (length(outer)) split(seq_len(nrow(table)), table[outer], drop = TRUE) else list(seq_len(nrow(table)))
  data <- native_data(problem$samples$x, problem$samples$codes)
  for (rows in groups) {
    problem[outer] <- table[rows[1], outer, drop = FALSE]
    options <- native_options(problem, class.weights)
    options$probability <- FALSE
    cells <- result_of(native_grid(options, data, as.integer(folds), as.double(ranges$cost), as.double(ranges$gamma)))
    for (cell in cells) {
      # A kernel without gamma has the same result for all values.
      same <- function(name, value) if (name %in% inner && !is.nan(value)) table[[name]][rows] == value else TRUE
      at <- rows[same("cost", cell$cost) & same("gamma", cell$gamma)]
      found <- error_of(cell$predicted)
      table[at, c("error", "dispersion", "kkt")] <- rep(c(found, cell$certificate$kkt), each = length(at))
    }
  }
  table[c(names(ranges), "error", "dispersion", "kkt")]
}

#' @export
print.maxmargin_tune <- function(x, ...) {
  cat("\nParameter tuning of ", sQuote(x$method), ":\n\n", sep = "")
  cat("- sampling method:", x$sampling, "\n\n")
  if (length(x$best.parameters)) {
    cat("- best parameters:\n")
    print(x$best.parameters, row.names = FALSE)
    cat("\n")
  }
  cat("- best performance:", x$best.performance, "\n\n")
  if (!x$measure %in% usual_measures) cat("- performance is the ", x$measure, "\n\n", sep = "")
  invisible(x)
}

#' @export
summary.maxmargin_tune <- function(object, ...) structure(object, class = c("summary.maxmargin_tune", class(object)))

#' @export
print.summary.maxmargin_tune <- function(x, ...) {
  print.maxmargin_tune(x)
  cat("- Detailed performance results:\n")
  print(x$performances, row.names = FALSE)
  cat("\n")
  invisible(x)
}

#' Plot the errors of a search
#'
#' A search of one parameter is a line, and one of two is a map of the errors.
#'
#' @aliases plot.tune
#' @param x a result of [tune_svm()].
#' @param type "contour" or "perspective", for two parameters.
#' @param theta,col the angle and the colour of a perspective.
#' @param main,xlab,ylab titles.
#' @param swapxy whether the axes change places.
#' @param transform.x,transform.y,transform.z functions of the parameters and of the error.
#' @param color.palette,nlevels colours of a map, and their number.
#' @param ... arguments of the plot function of graphics.
#' @return nothing.
#' @examples
#' found <- tune_svm(Species ~ ., data = iris, gamma = 10^(-3:0), cost = 10^(0:3), cross = 5)
#' plot(found, transform.x = log10, transform.y = log10, xlab = "log10(gamma)", ylab = "log10(cost)")
#' @export
plot.maxmargin_tune <- function(x, type = c("contour", "perspective"), theta = 60, col = "lightblue", main = NULL,
                                xlab = NULL, ylab = NULL, swapxy = FALSE, transform.x = NULL, transform.y = NULL,
                                transform.z = NULL, color.palette = hcl.colors, nlevels = 20, ...) {
  type <- match.arg(type)
  names <- names(x$best.parameters)
  if (is.null(x$performances)) stop("the search has no table of performances: tune.control(performances = TRUE)")
  if (!length(names) %in% 1:2) stop("plot is for searches of one or two parameters, and this one has ", length(names))
  if (swapxy) names <- rev(names)
  changed <- function(values, transform) if (is.null(transform)) values else transform(values)
  table <- x$performances
  errors <- changed(table$error, transform.z)
  if (is.null(main)) main <- paste0("Performance of '", x$method, "'")
  if (is.null(xlab)) xlab <- names[1]
  first <- changed(table[[names[1]]], transform.x)
  if (length(names) == 1) {
    graphics::plot(first, errors, type = "b", xlab = xlab, ylab = if (is.null(ylab)) "error" else ylab, main = main, ...)
    return(invisible())
  }
  if (is.null(ylab)) ylab <- names[2]
  axes <- list(first, changed(table[[names[2]]], transform.y))
  ticks <- lapply(axes, function(values) sort(unique(values)))
  surface <- matrix(NA_real_, length(ticks[[1]]), length(ticks[[2]]))
  surface[cbind(match(axes[[1]], ticks[[1]]), match(axes[[2]], ticks[[2]]))] <- errors
  if (type == "perspective") {
    graphics::persp(ticks[[1]], ticks[[2]], surface, theta = theta, col = col, xlab = xlab, ylab = ylab, zlab = "error",
                    ticktype = "detailed", main = main, ...)
  } else {
    graphics::filled.contour(ticks[[1]], ticks[[2]], surface, xlab = xlab, ylab = ylab, main = main,
                             color.palette = color.palette, nlevels = nlevels, ...)
  }
  invisible()
}
