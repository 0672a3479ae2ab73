# Classes in LIBSVM's order. Levels have codes from 1. The labels of a model are the codes that its
# samples have, in order of first appearance. The engine knows a label by its rank: with two
# classes the first label is the greater number, so that decision values have LIBSVM's sign.

ranks_of <- function(codes, labels) {
  place <- match(codes, labels) - 1
  if (length(labels) == 2) 1 - place else place
}

# The inverse of `ranks_of`.
codes_of <- function(ranks, labels) {
  labels[if (length(labels) == 2) 2 - ranks else ranks + 1]
}

# The pairs of labels, one for each machine, as columns of two positions.
pairs_of <- function(classes) combn(classes, 2)

# The names of machines: "a/b".
machine_names <- function(object) {
  if (object$type > 1) return("/")
  names <- object$levels[object$labels]
  pairs <- pairs_of(length(names))
  paste(names[pairs[1, ]], names[pairs[2, ]], sep = "/")
}
