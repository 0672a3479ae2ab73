"""Probabilities that mean what they say: of samples that are given 80 %, four out of five are of the class."""

import sys
from pathlib import Path

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from maxmargin import SVC

X, y = make_moons(3000, noise=0.45, random_state=1)
X, y, X_new, y_new = X[:1000], y[:1000], X[1000:], y[1000:]

curves = {}
for way in ["platt", "isotonic"]:
    fitted = SVC(C=1.0, gamma=1.0, calibration=way).fit(X, y)
    # Fitted to what five folds say of samples that they did not see, and judged by samples that took no part in either.
    known = fitted.calibration_
    probabilities = fitted.predict_proba(X_new)[:, 1]
    print(f"{way}: log loss {log_loss(y_new, probabilities):.3f} on new samples, {known.log_loss:.3f} was promised")
    curves[way] = calibration_curve(y_new, probabilities, n_bins=8)
    off = np.abs(curves[way][0] - curves[way][1]).mean()
    print(f"{way}: said and seen differ by {off:.3f} in the mean of eight bins")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 5))
    axes.plot([0, 1], [0, 1], color="0.7")
    for way, (seen, said) in curves.items():
        axes.plot(said, seen, marker="o", label=way)
    axes.set(
        xlabel="probability that was said", ylabel="share that was seen", title="1,000 samples to learn from, 2,000 new ones"
    )
    axes.legend()
    figure.savefig(Path(sys.argv[1], "calibrated_probabilities.svg"))
