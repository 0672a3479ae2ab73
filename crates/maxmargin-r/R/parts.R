# The elements of an object that follow from a trained model and its samples.

# Sets support vectors, coefficients, offsets and certificates. `x` has the scaled samples, and
# `codes` the numbers that the engine knows for their response.
with_parts <- function(object, x, codes) {
  parts <- native_model(object)$parts()
  machines <- parts$machines
  classes <- if (object$type < 2) length(object$labels) else 2L
  index <- sort(unique(unlist(lapply(machines, `[[`, "rows"))))
  if (object$type < 2) {
    place <- match(codes_of(codes, object$labels), object$labels)
    index <- index[order(place[index])]
    nsv <- tabulate(place[index], classes)
    pairs <- pairs_of(classes)
  } else {
    object$labels <- c(0L, 0L)
    nsv <- c(0L, 0L)
    pairs <- matrix(1:2, 2)
    place <- rep(1L, nrow(x))
  }
  coefs <- matrix(0, length(index), classes - 1)
  for (machine in seq_along(machines)) {
    at <- match(machines[[machine]]$rows, index)
    own <- place[index[at]]
    first <- own == pairs[1, machine]
    # LIBSVM's columns: a class has one for each other class.
    column <- ifelse(first, pairs[2, machine] - 1L, pairs[1, machine])
    coefs[cbind(at, column)] <- machines[[machine]]$coef
  }
  object$nclasses <- classes
  object$tot.nSV <- length(index)
  object$nSV <- nsv
  object$SV <- select_rows(x, index)
  object$index <- index
  object$coefs <- coefs
  object$rho <- vapply(machines, `[[`, 0, "rho")
  object["probA"] <- list(if (length(parts$probA)) parts$probA)
  object["probB"] <- list(if (length(parts$probB)) parts$probB)
  object["sigma"] <- list(if (object$compprob && length(parts$sigma)) parts$sigma)
  object$certificate <- certificate_table(parts$certificates, machine_names(object))
  object
}

certificate_table <- function(columns, machines) {
  table <- data.frame(machine = machines, columns)
  class(table) <- c("svm_certificate", "data.frame")
  table
}

# Sets the fitted values of the samples that the object was trained on.
with_fitted <- function(object, data) {
  samples <- object$samples
  predicted <- predicted(object, data, TRUE, FALSE)
  object$fitted <- setNames(predicted$response, samples$names)
  object <- with_omitted(object, samples$na.action)
  object$decision.values <- predicted$decision.values
  dimnames(object$decision.values) <- list(samples$names, machine_names(object))
  if (object$type > 2) object$residuals <- samples$response - object$fitted
  object
}

# Predicts samples of the engine: the response in its own units and levels, decision values and
# probabilities.
predicted <- function(object, data, decision.values, probability) {
  found <- result_of(native_model(object)$predict(data, decision.values, probability))
  n <- length(found$labels)
  response <- response_of(object, found$labels)
  result <- list()
  if (decision.values) result$decision.values <- matrix(found$decisions, n, length(machine_names(object)))
  if (probability) {
    classes <- length(object$labels)
    chances <- matrix(found$probabilities, n, classes)[, ranks_of(object$labels, object$labels) + 1, drop = FALSE]
    result$probabilities <- chances
    best <- object$labels[max.col(chances, ties.method = "first")]
    response <- factor(object$levels[best], levels = object$levels)
  }
  result$response <- response
  result
}

# Returns numbers of the engine as levels, as TRUE for members of the class, or as values.
response_of <- function(object, numbers) {
  if (object$type < 2) return(factor(object$levels[codes_of(numbers, object$labels)], levels = object$levels))
  if (object$type == 2) return(numbers > 0)
  if (is.null(object$y.scale)) return(numbers)
  numbers * object$y.scale[[2]] + object$y.scale[[1]]
}

# Sets the results of a cross-validation.
cross_validated <- function(object, options, data, folds) {
  fold <- shuffled_folds(nrow(object$samples$x), folds)
  options$probability <- FALSE
  found <- result_of(native_validate(options, data, fold))
  truth <- object$samples$codes
  object$cross.certificates <- certificate_table(found$folds, seq_len(folds))
  if (object$type > 2) {
    scale <- if (is.null(object$y.scale)) 1 else object$y.scale[[2]]^2
    errors <- (found$predicted - truth)^2 * scale
    object$MSE <- as.vector(tapply(errors, fold, mean))
    object$tot.MSE <- mean(errors)
    object$scorrcoeff <- stats::cor(truth, found$predicted)^2
  } else {
    correct <- found$predicted == truth
    object$accuracies <- 100 * as.vector(tapply(correct, fold, mean))
    object$tot.accuracy <- 100 * mean(correct)
  }
  object
}

# Returns the fold of each row, from 0: contiguous parts of a shuffle by R's random numbers.
shuffled_folds <- function(n, folds) {
  draws <- stats::runif(n)
  rows <- seq_len(n)
  for (i in rows) {
    left <- n - i + 1
    j <- i + trunc(draws[i] * left) %% left
    rows[c(i, j)] <- rows[c(j, i)]
  }
  starts <- ((seq_len(folds + 1) - 1) * n) %/% folds
  fold <- integer(n)
  fold[rows] <- rep(seq_len(folds) - 1L, diff(starts))
  fold
}
