"""A customer wants to be forgotten: remove the rows, exactly, and prove that the model is one that never saw them."""

import numpy as np
from sklearn.datasets import make_classification

from maxmargin import SVC, load, save

X, y = make_classification(800, 10, flip_y=0.1, random_state=7)
customer = np.random.default_rng(7).integers(0, 100, len(y))

fitted = SVC(C=10.0, gamma=0.05, tol=1e-6, keep_data=True).fit(X, y)
rows = np.flatnonzero(customer == 17)
print(f"customer 17 has {len(rows)} rows, {len(set(rows) & set(fitted.support_))} of them support vectors")

fitted.remove(rows)  # along an exact path: no training again

# The proof: judged against the data without the customer, believing nothing that the model says.
left = np.delete(np.arange(len(y)), rows)
verdict = fitted.verify(X[left], y[left])
print(
    f"of the data without them: {bool(verdict)} (KKT violation below 1e-6: {max(one.kkt for one in verdict.certificates) < 1e-6})"
)
print(f"of the data with them: {bool(fitted.verify(X, y))}")

again = SVC(C=10.0, gamma=0.05, tol=1e-6).fit(X[left], y[left])
apart = np.abs(fitted.decision_function(X) - again.decision_function(X)).max()
print(f"a training that never saw them decides the same: within 1e-5: {apart < 1e-5}")

# The model file, which keeps its training data, keeps none of theirs.
save(fitted, "forgotten.model")
kept = load("forgotten.model").to_bytes()
there = np.array([X[row].tobytes() in kept for row in range(len(y))])
print(f"rows in the file: {there[left].sum()} of others, {there[rows].sum()} of theirs")
