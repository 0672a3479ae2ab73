"""Intervals around a regression, from residuals of samples that the machines did not see: no more assumed than that new samples are like old ones."""

import sys
from pathlib import Path

import numpy as np

from maxmargin import SVR

rng = np.random.default_rng(5)
x = rng.uniform(0, 6, 2000)
y = np.sin(x) + rng.normal(scale=0.1 + 0.05 * x)
X, X_new, y_new = x[:600, None], x[600:, None], y[600:]
y = y[:600]

svr = SVR(C=10.0, gamma=1.0, epsilon=0.05)
residuals = np.abs(y - svr.leave_one_out(X, y).predicted())  # 600 exact machines; only support vectors cost work
fitted = svr.fit(X, y)

for share in [0.5, 0.9]:
    # The rank that makes the promise hold for 600 samples and one more.
    half = np.sort(residuals)[int(np.ceil(share * (len(y) + 1))) - 1]
    inside = np.abs(y_new - fitted.predict(X_new)) <= half
    print(f"{share:.0%} promised: ±{half:.3f} holds {inside.mean():.1%} of {len(y_new)} new samples")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    line = np.linspace(0, 6, 200)
    middle = fitted.predict(line[:, None])
    axes.fill_between(line, middle - half, middle + half, color="0.9", label="90 %")
    axes.plot(x[:200], y[:200], ".", color="0.6", markersize=3)
    axes.plot(line, middle, label="SVR")
    axes.legend()
    figure.savefig(Path(sys.argv[1], "intervals.svg"))
