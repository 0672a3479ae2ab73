# The engine "maxmargin" of parsnip for svm_rbf(), svm_poly() and svm_linear(). It is registered
# when parsnip is loaded, before or after this package.

# The kernels of parsnip's models, and the arguments of svm() for parsnip's arguments.
parsnip_models <- list(
  svm_rbf = list(kernel = "radial", arguments = c(cost = "cost", rbf_sigma = "gamma")),
  svm_poly = list(kernel = "polynomial", arguments = c(cost = "cost", degree = "degree", scale_factor = "gamma")),
  svm_linear = list(kernel = "linear", arguments = c(cost = "cost"))
)

# Functions of package dials for arguments of parsnip.
parsnip_dials <- c(cost = "cost", rbf_sigma = "rbf_sigma", degree = "degree", scale_factor = "scale_factor",
                   margin = "svm_margin")

# Returns what parsnip is told of a model: arguments, training, and predictions by type.
parsnip_engine <- function(model, mode) {
  known <- parsnip_models[[model]]
  classification <- mode == "classification"
  arguments <- c(known$arguments, if (!classification) c(margin = "epsilon"))
  defaults <- list(kernel = known$kernel)
  # The offset of kernlab's polynomials, which is the engine that parsnip has.
  if (model == "svm_poly") defaults$coef0 <- 1
  if (classification) defaults$probability <- TRUE
  samples <- list(object = quote(object$fit), newdata = quote(new_data))
  prediction <- function(post = NULL, ...) {
    list(pre = NULL, post = post, func = c(fun = "predict"), args = c(samples, list(...)))
  }
  chances <- function(results, object) {
    as.data.frame(chances_of(attr(results, "probabilities"), object$lvl))
  }
  plain <- function(results, object) unname(results)
  predictions <- if (classification) {
    list(class = prediction(plain), prob = prediction(chances, probability = TRUE), raw = prediction(decision.values = TRUE))
  } else {
    list(numeric = prediction(plain), raw = prediction())
  }
  list(arguments = arguments,
       fit = list(interface = "formula", protect = c("formula", "data", "weights"),
                  func = c(pkg = "maxmargin", fun = "svm"), defaults = defaults),
       encoding = list(predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
                       allow_sparse_x = FALSE),
       predictions = predictions)
}

# Registers the engine. `parsnip` returns a function of the package by its name.
register_parsnip <- function(parsnip = function(name) getExportedValue("parsnip", name)) {
  for (model in names(parsnip_models)) for (mode in c("classification", "regression")) {
    engine <- parsnip_engine(model, mode)
    parsnip("set_model_engine")(model, mode, "maxmargin")
    parsnip("set_dependency")(model, "maxmargin", "maxmargin", mode)
    for (name in names(engine$arguments)) {
      parsnip("set_model_arg")(model, "maxmargin", parsnip = name, original = engine$arguments[[name]],
                               func = list(pkg = "dials", fun = parsnip_dials[[name]]), has_submodel = FALSE)
    }
    parsnip("set_fit")(model, mode, "maxmargin", engine$fit)
    parsnip("set_encoding")(model, mode, "maxmargin", engine$encoding)
    for (type in names(engine$predictions)) {
      parsnip("set_pred")(model, mode, "maxmargin", type, engine$predictions[[type]])
    }
  }
}

.onLoad <- function(libname, pkgname) {
  if (isNamespaceLoaded("parsnip")) {
    register_parsnip()
  } else {
    setHook(packageEvent("parsnip", "onLoad"), function(...) register_parsnip())
  }
}
