"""A million predictions, in blocks: the memory beside X and the answer does not grow with the rows."""

import resource
import sys
import time

import numpy as np
from sklearn.datasets import make_classification

from maxmargin import SVC

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
X, y = make_classification(1000, 10, class_sep=2.0, flip_y=0.01, random_state=3)
fitted = SVC(C=1.0, gamma=0.05).fit(X, y)
many = np.random.default_rng(3).normal(size=(count, 10)).astype(np.float32)
fitted.predict(many[:1000])


def peak() -> int:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


before, begun = peak(), time.perf_counter()
labels = fitted.predict(many)
seconds, more = time.perf_counter() - begun, peak() - before
print(f"{count:,} predictions by {len(fitted.support_)} support vectors")
print(f"the same as one by one: {bool((labels[::9973] == [fitted.predict(row[None])[0] for row in many[::9973]]).all())}")
print(f"{seconds:.2f} s, {count / seconds:,.0f} a second, {more} MB more at the peak", file=sys.stderr)
