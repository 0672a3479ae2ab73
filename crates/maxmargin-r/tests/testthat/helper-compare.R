# Comparisons with e1071. Both solve to a KKT violation of 0.001, so that decision values differ by
# about as much; `exact` asks for more.
tolerance <- 5e-3

expect_same_model <- function(ours, theirs, data, tol = tolerance) {
  same <- c("type", "kernel", "cost", "degree", "gamma", "coef0", "nu", "epsilon", "sparse", "scaled", "x.scale", "y.scale",
            "nclasses", "levels", "labels", "compprob")
  for (name in same) expect_equal(ours[[name]], theirs[[name]], info = name)
  expect_equal(names(ours$fitted), names(theirs$fitted))
  expect_equal(dimnames(ours$decision.values), dimnames(theirs$decision.values))
  expect_lt(max(abs(ours$decision.values - theirs$decision.values)), tol)
  expect_equal(dim(ours$coefs), c(ours$tot.nSV, ours$nclasses - 1))
  expect_equal(length(ours$rho), length(theirs$rho))
  expect_true(all(ours$certificate$holds))
}

# Two sets of labels that may differ where a decision value is within the tolerance of 0.
expect_same_labels <- function(ours, theirs, decisions, tol = tolerance) {
  clear <- apply(abs(decisions) > tol, 1, all)
  expect_identical(ours[clear], theirs[clear])
}

exact <- 1e-7
