library(testthat)
library(maxmargin)

test_check("maxmargin")
