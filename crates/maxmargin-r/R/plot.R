#' Plot the classes of a model over two variables
#'
#' Regions are the predicted classes, and points the samples: support vectors are crosses.
#'
#' @aliases plot.svm
#' @param x a classification model of [svm()] with a formula.
#' @param data the data frame that the model was trained on.
#' @param formula the two variables, `vertical ~ horizontal`. It may be left out if the model has
#'   two.
#' @param fill whether regions are drawn, or points alone.
#' @param grid the number of steps of each axis.
#' @param slice a named list with values of the other variables; 0, or the first level, without.
#' @param symbolPalette colours of classes.
#' @param svSymbol,dataSymbol symbols of support vectors and of other samples.
#' @param ... arguments of [graphics::filled.contour()] or [graphics::plot()].
#' @return nothing.
#' @examples
#' model <- svm(Species ~ ., data = iris)
#' plot(model, iris, Petal.Width ~ Petal.Length, slice = list(Sepal.Width = 3, Sepal.Length = 4))
#' @export
plot.maxmargin_svm <- function(x, data, formula = NULL, fill = TRUE, grid = 50, slice = list(),
                               symbolPalette = palette(), svSymbol = "x", dataSymbol = "o", ...) {
  if (x$type > 2 || !inherits(x, "svm.formula")) stop("plot is for classification models with a formula", call. = FALSE)
  if (!is.data.frame(data)) stop("data must be the data frame of the training, and is of class ", class(data)[1], call. = FALSE)
  fill <- flag_of(fill, "fill")
  if (!is_number(grid) || !are_counts(grid) || grid < 2) {
    stop("grid must be a number of steps, 2 or more, and is ", in_words(grid), call. = FALSE)
  }
  variables <- all.vars(delete.response(terms(x)))
  shown <- shown_variables(formula, variables, data)
  check_slice(slice, setdiff(variables, shown))
  response <- model.response(model.frame(terms(x), data, na.action = stats::na.pass))
  colours <- if (is.null(response)) rep(symbolPalette[1], nrow(data)) else symbolPalette[as.numeric(as.factor(response))]
  used <- if (identical(nrow(data), x$trained$of)) x$trained$rows else seq_len(nrow(data))
  symbols <- rep(dataSymbol, nrow(data))
  symbols[used[x$index]] <- svSymbol
  samples <- function() graphics::points(data[[shown[2]]], data[[shown[1]]], col = colours, pch = symbols)
  if (!fill) {
    graphics::plot(data[[shown[2]]], data[[shown[1]]], type = "n", xlab = shown[2], ylab = shown[1], ...)
    samples()
    return(invisible())
  }
  axes <- lapply(shown, function(name) seq(min(data[[name]], na.rm = TRUE), max(data[[name]], na.rm = TRUE), length.out = grid))
  others <- lapply(setNames(nm = setdiff(variables, shown)), function(name) slice_of(data[[name]], slice[[name]], name))
  points <- expand.grid(c(list(axes[[2]], axes[[1]]), others))
  names(points)[1:2] <- rev(shown)
  classes <- factor(predict(x, points))
  values <- if (x$type < 2) x$levels else levels(classes)
  drawn <- matrix(match(as.character(classes), values), grid)
  graphics::filled.contour(
    axes[[2]], axes[[1]], drawn, levels = seq_len(length(values) + 1), plot.axes = {
      graphics::axis(1)
      graphics::axis(2)
      samples()
    },
    key.axes = graphics::axis(4, seq_along(values) + 0.5, labels = values, las = 3),
    plot.title = graphics::title(main = "SVM classification plot", xlab = shown[2], ylab = shown[1]), ...
  )
  invisible()
}

# Returns the names of the vertical and the horizontal variable.
shown_variables <- function(formula, variables, data) {
  if (!is.null(formula) && !inherits(formula, "formula")) {
    stop("formula must be of the form vertical ~ horizontal, and is ", in_words(formula), call. = FALSE)
  }
  shown <- if (!is.null(formula)) all.vars(formula) else variables
  if (length(shown) != 2) stop("missing formula: which two variables are drawn, as vertical ~ horizontal?", call. = FALSE)
  for (name in shown) {
    if (!name %in% variables) {
      stop("variable ", sQuote(name), " is not one of the model's: ", paste(variables, collapse = ", "), call. = FALSE)
    }
    if (!name %in% names(data)) stop("data has no variable ", sQuote(name), call. = FALSE)
    if (!is.numeric(data[[name]])) {
      stop("variable ", sQuote(name), " is of class ", class(data[[name]])[1], ", and axes have numbers", call. = FALSE)
    }
  }
  shown
}

# Stops at a slice that is no list of values of variables that are not drawn.
check_slice <- function(slice, others) {
  if (!is.list(slice) || length(slice) && is.null(names(slice))) {
    stop("slice must be a list with the names of variables, and is ", in_words(slice), call. = FALSE)
  }
  for (name in names(slice)) {
    if (!name %in% others) {
      stop("slice has ", sQuote(name), ", and the variables that are not drawn are ", paste(others, collapse = ", "), call. = FALSE)
    }
    if (length(slice[[name]]) != 1) stop("slice has ", length(slice[[name]]), " values of ", sQuote(name), call. = FALSE)
  }
}

# The value of a variable that is not drawn.
slice_of <- function(column, value, name) {
  if (is.character(column)) column <- factor(column)
  if (is.logical(column) && is.null(value)) return(FALSE)
  if (!is.factor(column)) return(if (is.null(value)) 0 else value)
  if (is.null(value)) return(factor(levels(column)[1], levels = levels(column)))
  if (!as.character(value) %in% levels(column)) stop("Level ", dQuote(value), " could not be found in factor ", sQuote(name), call. = FALSE)
  factor(as.character(value), levels = levels(column))
}
