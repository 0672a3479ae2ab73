"""The suite: works as users have them, small and large, dense and sparse, of two classes and many."""

from works import OURS, THEIRS, Work

#: scikit-learn-intelex leaves these to scikit-learn, or has none of them.
ONE_PEER = (OURS, THEIRS)

#: Six by six powers of ten, as in many tutorials.
GRID = {"C": [10.0**k for k in range(-1, 5)], "gamma": [10.0**k for k in range(-4, 2)]}

WORKS = [
    Work("SVC.fit", "sklearn:iris", {"C": 1.0, "gamma": 0.25}, standard=True),
    Work("SVC.fit", "sklearn:wine", {"C": 1.0, "gamma": 0.077}, standard=True),
    Work("SVC.fit", "sklearn:breast_cancer", {"C": 10.0, "gamma": 0.03}, standard=True),
    Work("SVC.fit", "sklearn:breast_cancer", {"C": 1.0}),
    Work("SVC.fit", "sklearn:digits", {"C": 10.0, "gamma": 0.01}, standard=True),
    Work("SVC.fit", "sklearn:digits", {"C": 1.0, "kernel": "poly"}, standard=True),
    Work("SVC.fit", "splice", {"C": 10.0, "gamma": 0.01}),
    Work("SVC.fit", "madelon", {"C": 1.0, "gamma": 0.002}, standard=True),
    Work("SVC.fit", "pendigits", {"C": 10.0, "gamma": 0.06}, standard=True),
    Work("SVC.fit", "usps", {"C": 10.0, "gamma": 0.01}),
    Work("SVC.fit", "letter.scale", {"C": 10.0, "gamma": 1.0}),
    Work("SVC.fit", "shuttle", {"C": 100.0, "gamma": 0.1}, standard=True),
    Work("SVC.fit", "mnist", {"C": 10.0, "gamma": 0.02}, rows=10_000, divide=255),
    Work("SVC.fit", "a9a", {"C": 1.0, "gamma": 0.05}),
    Work("SVC.fit", "a9a", {"C": 100.0, "gamma": 0.5}),
    Work("SVC.fit", "w8a", {"C": 1.0, "gamma": 0.05}),
    Work("SVC.fit", "ijcnn1", {"C": 10.0, "gamma": 1.0}),
    Work("SVC.fit", "made:moons", {"C": 10.0, "gamma": 1.0}, rows=100_000),
    Work("SVC.fit", "reuters", {"C": 10.0, "gamma": 1.0}, sparse=True),
    Work("SVC.fit", "news20", {"C": 10.0, "gamma": 0.5}, rows=4000, sparse=True),
    Work("NuSVC.fit", "sklearn:digits", {"nu": 0.1, "gamma": 0.01}, standard=True),
    Work("NuSVC.fit", "pendigits", {"nu": 0.05, "gamma": 0.06}, standard=True),
    Work("SVR.fit", "sklearn:diabetes", {"C": 10.0, "gamma": 0.1, "epsilon": 1.0}, standard=True),
    Work("SVR.fit", "made:friedman", {"C": 1.0, "gamma": 0.1, "epsilon": 1.0}, rows=8192),
    Work("SVR.fit", "made:friedman", {"C": 10.0, "gamma": 0.5, "epsilon": 0.2}, rows=4177),
    Work("NuSVR.fit", "made:friedman", {"C": 10.0, "nu": 0.5, "gamma": 0.1}, rows=4177),
    Work("OneClassSVM.fit", "shuttle", {"nu": 0.05, "gamma": 0.1}, rows=20_000, standard=True, programs=ONE_PEER),
    Work("LinearSVC.fit", "sklearn:digits", {"C": 1.0}, standard=True, programs=ONE_PEER),
    Work("LinearSVC.fit", "a9a", {"C": 1.0}, programs=ONE_PEER),
    Work("LinearSVC.fit", "a9a", {"C": 100.0}, programs=ONE_PEER),
    Work("LinearSVC.fit", "ijcnn1", {"C": 100.0, "loss": "hinge"}, programs=ONE_PEER),
    Work("LinearSVC.fit", "reuters", {"C": 1.0}, sparse=True, programs=ONE_PEER),
    Work("LinearSVC.fit", "news20", {"C": 1.0}, sparse=True, programs=ONE_PEER),
    Work("LinearSVC.fit", "news20", {"C": 100.0}, sparse=True, programs=ONE_PEER),
    Work("LinearSVR.fit", "made:friedman", {"C": 1.0}, rows=8192, programs=ONE_PEER),
    Work("GridSearchCV.fit", "sklearn:breast_cancer", {}, standard=True, grid=GRID),
    Work("GridSearchCV.fit", "sklearn:digits", {}, standard=True, grid=GRID),
    Work("GridSearchCV.fit", "a9a", {}, rows=5000, grid=GRID),
    Work("GridSearchCV.fit", "letter.scale", {}, rows=2000, grid=GRID),
    Work("cross_val_predict", "usps", {"C": 10.0, "gamma": 0.01}),
    Work("cross_val_predict", "a9a", {"C": 10.0, "gamma": 0.05}, rows=10_000),
    Work("probabilities", "pendigits", {"C": 10.0, "gamma": 0.06}, standard=True),
    Work("probabilities", "a9a", {"C": 1.0, "gamma": 0.05}, rows=10_000),
    Work("predict", "usps", {"C": 10.0, "gamma": 0.01}, rows=5000),
    Work("predict", "ijcnn1", {"C": 10.0, "gamma": 1.0}, rows=5000),
    Work("predict", "ijcnn1", {"C": 1.0, "kernel": "linear"}, rows=5000),
    Work("predict_one", "ijcnn1", {"C": 10.0, "gamma": 1.0}, rows=5000),
]
