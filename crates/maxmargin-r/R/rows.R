# Matrices in: dense matrices stay what they are, and sparse ones become rows (`dgRMatrix`).

is_sparse <- function(x) inherits(x, "dgRMatrix")

# Returns the samples of an argument: a matrix of numbers, or sparse rows. `name` is the argument's.
rows_of <- function(x, name = "x") {
  if (inherits(x, "matrix.csr")) {
    return(sparse_rows(rep(seq_len(x@dimension[1]), diff(x@ia)), x@ja, x@ra, x@dimension))
  }
  if (inherits(x, "simple_triplet_matrix")) return(sparse_rows(x$i, x$j, x$v, c(x$nrow, x$ncol)))
  if (inherits(x, "Matrix")) {
    triplets <- as(as(as(x, "dMatrix"), "generalMatrix"), "TsparseMatrix")
    rows <- sparse_rows(triplets@i + 1L, triplets@j + 1L, triplets@x, dim(x))
    rows@Dimnames <- triplets@Dimnames
    return(rows)
  }
  if (is.data.frame(x)) {
    numbers <- vapply(x, function(column) is.numeric(column) || is.logical(column), NA)
    if (!all(numbers)) {
      stop("column ", paste(sQuote(names(x)[!numbers]), collapse = ", "), " of ", name, " has no numbers: ",
           "use a formula, which makes numbers of factors", call. = FALSE)
    }
  }
  if (!is.data.frame(x) && (!is.atomic(x) || is.null(x) || length(dim(x)) > 2)) {
    stop(name, " must be a matrix, a data frame, a vector of numbers or a sparse matrix, and is of class ",
         paste(class(x), collapse = ", "), call. = FALSE)
  }
  x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) {
    stop(name, " has values of type ", typeof(x), ": samples have numbers", call. = FALSE)
  }
  x
}

# Returns compressed rows of triplets with numbers from 1. Values of one place add up.
sparse_rows <- function(i, j, values, dimension) {
  order <- order(i, j)
  i <- as.integer(i[order])
  j <- as.integer(j[order])
  values <- as.double(values[order])
  first <- !duplicated(cbind(i, j))
  if (!all(first)) values <- as.vector(rowsum(values, cumsum(first)))
  new("dgRMatrix", p = c(0L, cumsum(tabulate(i[first], dimension[1]))), j = j[first] - 1L,
      x = values, Dim = as.integer(dimension))
}

# Returns some rows.
select_rows <- function(x, rows) {
  if (!is_sparse(x)) return(x[rows, , drop = FALSE])
  rows <- seq_len(nrow(x))[rows]
  lengths <- diff(x@p)[rows]
  at <- sequence(lengths, from = x@p[rows] + 1L)
  names <- x@Dimnames[[1]]
  new("dgRMatrix", p = c(0L, cumsum(lengths)), j = x@j[at], x = x@x[at], Dim = c(length(rows), ncol(x)),
      Dimnames = list(if (!is.null(names)) names[rows], x@Dimnames[[2]]))
}

# Returns the rows of `above` and those of `below`.
bind_rows <- function(above, below) {
  if (!is_sparse(above) && !is_sparse(below)) return(rbind(above, below))
  above <- if (is_sparse(above)) above else rows_of(Matrix::Matrix(above, sparse = TRUE))
  below <- if (is_sparse(below)) below else rows_of(Matrix::Matrix(below, sparse = TRUE))
  new("dgRMatrix", p = c(above@p, above@p[length(above@p)] + below@p[-1]), j = c(above@j, below@j),
      x = c(above@x, below@x), Dim = c(nrow(above) + nrow(below), ncol(above)))
}

# Returns compressed rows of the engine as sparse rows, or as a matrix.
rows_of_engine <- function(rows, sparse) {
  x <- new("dgRMatrix", p = rows$offsets, j = rows$columns, x = rows$values,
           Dim = c(length(rows$offsets) - 1L, rows$features))
  if (sparse) x else as.matrix(x)
}

# The names of samples: their row names, or their numbers.
row_names <- function(x) if (is.null(rownames(x))) as.character(seq_len(nrow(x))) else rownames(x)

# Centres and scales the chosen columns with the numbers that training found.
apply_scale <- function(x, scaled, scale) {
  if (!any(scaled)) return(x)
  x <- as.matrix(x)
  x[, scaled] <- sweep(sweep(x[, scaled, drop = FALSE], 2, scale[["scaled:center"]]), 2,
                       scale[["scaled:scale"]], "/")
  x
}

# Returns the centre and the scale of columns.
scale_of <- function(x) {
  list("scaled:center" = colMeans(x), "scaled:scale" = apply(x, 2, sd))
}
