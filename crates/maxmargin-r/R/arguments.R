# Checks of arguments.

# Returns a value as R writes it. Models and data frames would fill a page.
in_words <- function(value) {
  text <- trimws(deparse(value, nlines = 1)[1])
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

# Warns of arguments that no one reads, as misspelt ones are.
unused_arguments <- function(what, names) {
  names <- setdiff(names, "")
  if (length(names)) {
    warning(what, " has no argument ", paste(sQuote(names), collapse = ", "), ", which has no effect", call. = FALSE)
  }
}

is_number <- function(value) is.numeric(value) && length(value) == 1 && !is.na(value)

# Tells which numbers count something.
are_counts <- function(values) is.finite(values) & values == trunc(values) & values >= 0 & values <= .Machine$integer.max

# Stops at numbers of `svm` that are none. The engine has messages for values that it does not take.
check_parameters <- function(parameters) {
  for (name in names(parameters)) {
    value <- parameters[[name]]
    if (!is_number(value)) stop(sQuote(name), " must be one number, and is ", in_words(value), call. = FALSE)
    if (name == "tolerance" && value <= 0) stop("tolerance must be above 0, and is ", value, call. = FALSE)
    if (is.infinite(value) && name %in% c("coef0", "nu", "epsilon", "tolerance")) {
      stop(sQuote(name), " must be a finite number, and is ", value, call. = FALSE)
    }
  }
  check_degree(parameters$degree)
}

# The engine would take the whole part of any other number.
check_degree <- function(values) {
  wrong <- !are_counts(values)
  if (any(wrong)) stop("degree must be a whole number of 0 or more, and is ", values[wrong][1], call. = FALSE)
}

# Returns TRUE or FALSE for an argument, of which 1 and 0 are other names.
flag_of <- function(value, name) {
  if (!(is.logical(value) || is.numeric(value)) || length(value) != 1 || !value %in% c(0, 1)) {
    stop(sQuote(name), " must be TRUE or FALSE, and is ", in_words(value), call. = FALSE)
  }
  as.logical(value)
}

# Returns the position of a name, or of its beginning, among those that an argument has.
choice_of <- function(value, name, names) {
  # A column of `expand.grid` is a factor.
  if (is.factor(value)) value <- as.character(value)
  at <- if (is.character(value) && length(value) == 1) pmatch(value, names) else NA
  if (is.na(at)) {
    stop("wrong ", name, " specification: ", name, " is ", in_words(value), ", and must be one of ",
         paste(names, collapse = ", "), call. = FALSE)
  }
  at
}

# Returns which of `count` columns or terms to scale.
scale_flags <- function(scale, count, counted) {
  if (!length(scale) %in% c(1L, count)) stop("scale has ", length(scale), " values, and ", counted, call. = FALSE)
  if (!(is.logical(scale) || is.numeric(scale)) || !all(scale %in% c(0, 1))) {
    stop("scale must be TRUE or FALSE, and is ", in_words(scale), call. = FALSE)
  }
  rep_len(as.logical(scale), count)
}

# Returns the function that an argument is or names.
na_function <- function(na.action) {
  if (is.function(na.action)) return(na.action)
  named <- is.character(na.action) && length(na.action) == 1 && !is.na(na.action)
  if (!named || !exists(na.action, mode = "function")) {
    stop("na.action must be a function such as na.omit, and is ", in_words(na.action), call. = FALSE)
  }
  get(na.action, mode = "function")
}

check_weights <- function(weights) {
  if (!is.numeric(weights) || any(weights < 0 | weights == Inf, na.rm = TRUE)) {
    stop("weights must be finite numbers of 0 or more", call. = FALSE)
  }
}

check_folds <- function(cross, least) {
  is_whole <- is_number(cross) && is.finite(cross) && cross == trunc(cross)
  if (!is_whole || cross < least || cross == 1) {
    stop("cross must be ", if (least == 0) "0, or ", "2 folds or more, and is ", in_words(cross), call. = FALSE)
  }
}

# Returns the places of a subset among rows with these names. Places that are missing stay so.
rows_of_subset <- function(subset, names) {
  if (!is.numeric(subset) && !is.logical(subset) && !is.character(subset)) {
    stop("subset must be numbers of rows, their names, or TRUE and FALSE, and is ", in_words(subset), call. = FALSE)
  }
  rows <- if (is.character(subset)) match(subset, names) else seq_along(names)[subset]
  if (anyNA(rows) && !anyNA(subset)) stop("subset has rows that x does not have: x has ", length(names), call. = FALSE)
  rows
}

check_file <- function(file, name) {
  if (inherits(file, "connection")) return(invisible())
  if (!is.character(file) || length(file) != 1 || is.na(file) || !nzchar(file)) {
    stop(sQuote(name), " must be the name of a file, and is ", in_words(file), call. = FALSE)
  }
}
