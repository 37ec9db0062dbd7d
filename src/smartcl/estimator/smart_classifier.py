"""``SmartClassifier``: a classifier with the interface of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smartcl.account.account import Account
from smartcl.account.doubted import Doubts
from smartcl.account.named_scores import NamedScores
from smartcl.columns.gaps import gaps_of
from smartcl.columns.row_encoder import FeatureNames
from smartcl.data.batch import Batch, Ints, Rows
from smartcl.data.spec import InputSpec
from smartcl.estimator.encoding import Encode, Encoding, encoded
from smartcl.estimator.fitted import (
    Built,
    Fitted,
    Labels,
    Taken,
    check_family,
    check_labels,
    counted,
    labels_of,
    positions,
    widened,
)
from smartcl.estimator.input_checks import (
    Given,
    Said,
    as_array,
    check_batch_size,
    check_shape,
    check_verbose,
    class_weight_asked,
    flat_rows,
    method_asked,
    one_line,
    own_settings,
    parameters_asked,
    rows_of,
    sample_weight_asked,
    spec_of,
)
from smartcl.estimator.row_door import Door
from smartcl.estimator.table_door import TableDoor
from smartcl.estimator.verbose import RowsLearned
from smartcl.learners.ensemble.left_out import left_out_probabilities
from smartcl.learners.factory import Factory, Method
from smartcl.learners.feeding import feed
from smartcl.learners.forgetting import forget_samples
from smartcl.learners.ids import ids_of, kept_ids
from smartcl.learners.influence import influences
from smartcl.learners.methods import USUAL_METHOD, registered_name
from smartcl.learners.size import StateSize
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.network.torch_optim import MakeOptimizer
from smartcl.network.wrapped import Augment, ModuleSource
from smartcl.settings import shown


class SmartClassifier(ClassifierMixin, TableDoor):  # type: ignore[misc]
    """A classifier that learns from a stream in a memory of a fixed number of bytes.

    ``memory`` is a size (``"1MB"``), a number of bytes, or ``"300 samples"``: that many full samples' bytes.
    ``total`` bounds all that is learned, in bytes: weights, moments, averages, sums, code and samples, as a saved
    folder holds them. The method is then as large as fits, in half precision where it must, and ``memory`` is the most
    that samples take of it.
    ``method`` names the learner (``smartcl methods`` lists them); ``learner`` in its place is one of the user's own: a
    factory ``learner(spec, memory, seed, **parameters)`` or a ``Method``. Settings left at ``None`` take the method's
    own value, and those without an argument of their own go into ``parameters``, a dict. Each call of ``partial_fit``
    is cut into batches of ``batch_size`` in the order given; a class not seen before gets the next column of
    ``predict_proba``. ``fit`` forgets everything and learns the rows in random order.

    ``members`` says what the default learner is made of: names (``"ridge"``, ``"logistic"``, ``"linear"``,
    ``"neighbours"``, ``"trees"``, ``"network"``, ``"robust network"``), classifiers of scikit-learn's kind, and
    functions ``member(spec, features)`` that make a ``Member``. A classifier learns by ``partial_fit`` where it has it;
    otherwise it is fitted anew to the newest stored samples when enough rows have come. Its weights are not saved: a
    loaded model fits it anew from its memory.

    ``network`` is a PyTorch module of the user's own in the place of ``hidden``, or a function ``network(spec)`` that
    makes one; ``optimizer(parameters)`` makes an optimizer of torch for it, and ``augment(rows)`` changes the rows of
    every step. ``X`` may be images ``[n, channels, height, width]``. With an ``encoder``, a function from raw items to
    vectors, ``X`` is a list of such items, and the memory keeps the vectors. All of this code is saved by name, and
    loading imports it only from modules that are named in ``load(folder, trust=[...])``. Some encoders are known by
    name: ``"efficientnet-lite0"`` for images, brought to 224 by 224 pixels or, as ``"efficientnet-lite0@96"``, to 96 by
    96, and ``"wordllama"`` for texts (``pip install 'smartcl[encoders]'``).

    ``class_weight`` and ``sample_weight`` say how much a row counts when it is learned and whenever it is replayed;
    ``"balanced"`` goes by how often each class has come so far. A row of weight 0 is left out. Weights of samples are
    stored, in 4 bytes each of the memory, and given from the first call on or never. A row of weight 2 is not the same
    as a row that comes twice: rows that come are cut into batches, some are held out to test on, and the memory is full
    sooner. That is why scikit-learn's two checks that compare weights with repeated rows cannot hold for a stream.

    ``previous_label=True`` has rows of numbers learned as a table of their columns, to which the rate of each class
    among the last labels belongs, as late as labels come; frames and dicts have it in any case. Without it the last
    label still counts for the very next row, where labels come one by one.

    ``verbose=1`` tells on standard output, every other second, how many rows a long call of ``fit`` or ``partial_fit``
    has learned and how many it learns a second.

    Every call completes or changes nothing. Threads may share a model: they learn and save one after the other, and
    predict from the last finished batch without waiting for the next. What a learner is built from is settled by the
    first call: change it with ``set_params``, and ``fit`` must follow. ``random_state`` and the order of the rows
    decide everything, to the last bit for the same number of threads: one thread and two add in another order.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SmartClassifier(memory="1kB", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.memory_
    42 samples in 895 B of 1 kB, 4 of 4 features kept, values exact
    """

    def __init__(
        self,
        memory: str | int = "1MB",
        *,
        total: str | int | None = None,
        method: str = USUAL_METHOD,
        learner: Factory | Method | None = None,
        members: Sequence[Any] | str | None = None,
        hidden: tuple[int, ...] | None = None,
        lr: float | None = None,
        iterations: int | None = None,
        replay: int | None = None,
        average: float | None = None,
        smoothing: float | None = None,
        dropout: float | None = None,
        robust: float | None = None,
        distill: float | None = None,
        trust: bool | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        precision: str | int | None = None,
        arithmetic: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        network: ModuleSource | str | None = None,
        optimizer: MakeOptimizer | str | None = None,
        augment: Augment | str | None = None,
        encoder: Encode | str | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        previous_label: bool = False,
        batch_size: int = 50,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.memory = memory
        self.total = total
        self.method = method
        self.learner = learner
        self.members = members
        self.hidden = hidden
        self.lr = lr
        self.iterations = iterations
        self.replay = replay
        self.average = average
        self.smoothing = smoothing
        self.dropout = dropout
        self.robust = robust
        self.distill = distill
        self.trust = trust
        self.alpha = alpha
        self.beta = beta
        self.precision = precision
        self.arithmetic = arithmetic
        self.parameters = parameters
        self.network = network
        self.optimizer = optimizer
        self.augment = augment
        self.encoder = encoder
        self.class_weight = class_weight
        self.previous_label = previous_label
        self.batch_size = batch_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SmartClassifier:
        """Forget everything, then learn these rows in random order, once."""
        with self._one_at_a_time():
            if self._takes_table(X, anew=True):
                self._door = None
                self._learn_table(X, Given(y, None, sample_weight), check_random_state(self.random_state), anew=True)
                return self
            draft, taken = self._drafted(X, y)
            weight = sample_weight_asked(sample_weight, len(taken.labels))
            rng = check_random_state(self.random_state)
            draft._fitted = self._new(taken, np.unique(taken.labels), rng, fixed=False)
            order: Ints = rng.permutation(len(taken.labels))
            account = self._learn(draft._fitted, taken, order, weight)
            draft._fitted.learner.flush()
            draft._fitted = replace(draft._fitted, account=counted(account, draft._fitted.learner))
            self.__dict__ = draft.__dict__
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> SmartClassifier:
        """Learn these rows in their order. ``classes``, if given at the first call, are all there will ever be.

        ``ids`` are kept beside the rows, eight bytes each, so that ``forget`` can find them: with all calls or none.
        """
        return self._taught(X, Given(y, classes, sample_weight, ids))

    def _taught(self, X: Any, given: Given) -> SmartClassifier:
        """The same; ``given`` may have what was answered to the rows before."""
        with self._one_at_a_time():
            short = all(value is None for value in given[1:])
            if short and self._learned_shortly(X, given.y):
                return self
            if self._takes_table(X):
                self._learn_table(X, given, check_random_state(self.random_state))
            elif self.__sklearn_is_fitted__():
                self._go_on(X, given)
            else:
                self._begin(X, given)
            self._door = Door.of(self.get_params(deep=False), self._fitted) if self._has_door else None
        return self

    @property
    def _has_door(self) -> bool:
        """Whether rows of numbers may go the short way; those of a table have the table's own."""
        plain = self.encoder is None and self._fitted.gaps is None
        return plain and (self._fitted.columns is not None or not hasattr(self, "feature_names_in_"))

    def _learned_shortly(self, X: Any, y: Any) -> bool:
        """Whether these rows could be learned by the short way, and are."""
        door = self._door
        if door is None or not door.open_for(vars(self), self._fitted):
            return False
        learner, rows, labels = self._fitted.learner, door.rows(X), door.labels(y)
        if rows is None or labels is None or len(rows) != len(labels) or learner.keeps_ids:
            return False
        if learner.waiting + len(rows) > self.batch_size:
            return False
        batches, waits = learner.batches, 0 < learner.waiting < self.batch_size - len(rows)
        with nullcontext() if waits else learner.all_or_nothing():
            learner.follow(Batch(rows, labels), self.batch_size, len(rows))
            if learner.batches != batches:
                account = counted(self._fitted.account, learner, labels.numpy())
                self._fitted = replace(self._fitted, account=account)
                self._door = replace(door, fitted=self._fitted)
        return True

    def flush(self) -> SmartClassifier:
        """Learn the rows that wait for their batch to be complete: the stream has ended, or pauses."""
        with self._one_at_a_time():
            self._learn_first_rows()
            check_is_fitted(self)
            learner = self._fitted.learner
            if learner.waiting:
                with learner.all_or_nothing():
                    learner.flush()
                    self._fitted = replace(self._fitted, account=counted(self._fitted.account, learner))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, columns as in ``classes_``."""
        return self._probabilities(X)[0]

    def predict(self, X: Any) -> Labels:
        """The most likely class of each row."""
        probabilities, names = self._probabilities(X)
        labels: Labels = names[probabilities.argmax(axis=1)]
        return labels

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy of ``predict`` on rows whose labels are known."""
        from sklearn.metrics import accuracy_score  # imported late, as in scikit-learn: learning alone does not need it

        predicted = self.predict(X)
        with one_line():
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    @property
    def classes_(self) -> Labels:
        """The labels known, in the order of the columns of ``predict_proba``."""
        return self._known("classes_").classes

    @property
    def scores_(self) -> NamedScores:
        """Scores of the answers that the default learner gave to each batch before it learned it.

        Accuracy beside that of always saying the commonest label and of repeating the last one, and what else a stream
        is scored by; overall, in the last tenth, by class and over time. Other methods are not asked, for most of them
        take as long to answer as to learn.
        """
        fitted = self._known("scores_")
        changes = getattr(fitted.learner, "changes", ())
        return NamedScores(fitted.account, [str(name) for name in fitted.names], tuple(changes))

    def doubts(self, suspected: bool = True) -> Doubts:
        """Which labels of stored samples are probably wrong, and what they should be; the most doubtful first.

        Each sample is judged by models that have not learned it (``learners/ensemble/left_out.py``), whatever the
        method. ``rows`` are the ids that were given with the rows, texts by their stored hash, or else the places of
        the samples in ``memory_.export()``. With ``suspected=False`` all stored samples come, in that order. 10,000
        samples take seconds.
        """
        fitted = self._known("doubts")
        store = fitted.learner.memory.store
        if not len(store):
            return Doubts.of(np.zeros((0, len(fitted.names))), np.zeros(0, np.int64), fitted.names, [], suspected)
        with fitted.learner.finished() as learner:
            found = left_out_probabilities(learner, np.random.default_rng(0))
        rows = store.extra["id"] if "id" in store.extra else np.arange(len(store))
        return Doubts.of(found, store.labels.astype(np.int64), fitted.names, rows, suspected)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How far the answers move when stored samples have each other's value of a feature; 1 in sum, as in trees.

        At most 64 features are asked about, those that vary most; the others have 0. Each look takes 64 predictions of
        250 samples.
        """
        fitted = self._known("feature_importances_")
        with fitted.learner.finished() as learner:
            moves = influences(learner, np.random.default_rng(0))
        found = np.zeros(fitted.built.spec.n_features)
        found[list(moves)] = list(moves.values())
        return found / found.sum() if found.any() else found

    def begin_scores(self) -> None:
        """Reset ``scores_``, for a stream of another kind or for rows that the model is to be tested on."""
        check_is_fitted(self)
        with self._one_at_a_time():
            self._fitted = replace(self._fitted, account=self._fitted.account.anew())

    @property
    def learner_(self) -> StreamLearner:
        """The learner, with its memory and its networks or members."""
        return self._known("learner_").learner

    @property
    def memory_(self) -> SchematicMemory:
        """The memory: its samples and their bytes; ``export()`` gives the samples themselves."""
        fitted = self._known("memory_")
        return fitted.learner.memory.named(fitted.names, self._feature_names(fitted))

    @property
    def model_(self) -> StateSize:
        """The bytes of the whole state, by part: of the memory, of each member or network, of scales and weights."""
        return StateSize(self._known("model_").bytes_by_part)

    def forget(self, ids: ArrayLike | Iterable[Any], retrain_from_memory: bool = False) -> int:
        """Remove the samples with these ids from memory, for good; how many there were.

        Their bytes are gone at once, and from the folder with the next ``save(folder, only=True)``. The weights may
        keep what the samples taught them: with ``retrain_from_memory`` they begin anew from the samples left, from the
        same ``random_state``, and classes of which none is left go, unless they were given as ``classes``.
        """
        check_is_fitted(self)
        with self._one_at_a_time():
            fitted = self._fitted
            with fitted.learner.all_or_nothing():
                count = forget_samples(fitted.learner, ids_of(ids))
                left = fitted
                if retrain_from_memory:  # a seed of the learner's would depend on what is forgotten
                    seed = int(check_random_state(self.random_state).randint(2**31 - 1))
                    left = fitted.relearned(self.batch_size, seed)
                else:  # also of rows that had left the memory before
                    left = fitted.without_lost()
            self._fitted = left
        return count

    @classmethod
    def _around(
        cls,
        learner: StreamLearner,
        classes: Labels,
        built: Built,
        feature_names: list[str],
        companions: Mapping[str, Any],
    ) -> SmartClassifier:
        """An estimator made of a learner that has learned without one."""
        own = own_settings(cls().get_params())
        given = {name: value for name, value in built.parameters.items() if name in own}
        others = {name: value for name, value in built.parameters.items() if name not in own}
        model = cls(
            built.memory, total=built.total, method=registered_name(built.method), **given, parameters=others or None
        )
        model._fitted = Fitted(learner, classes, True, built, companions, account=Account.knowing(learner.counts.seen))
        model.n_features_in_ = built.spec.n_features
        model.feature_names_in_ = np.array(feature_names, dtype=object)
        return model

    def _begin(self, X: Any, given: Given) -> None:
        draft, taken = self._drafted(X, given.y)
        weight = sample_weight_asked(given.sample_weight, len(taken.labels))
        check_labels(given.classes)
        known = np.unique(taken.labels if given.classes is None else labels_of(np.asarray(given.classes)))
        check_family(taken.labels, known, "classes do")
        draft._fitted = self._new(taken, known, check_random_state(self.random_state), given.classes is not None)
        draft._fitted.refuse_strangers(np.setdiff1d(taken.labels, known))
        account = self._learn(draft._fitted, taken, np.arange(len(taken.labels)), weight, given.ids, given.said)
        draft._fitted = replace(draft._fitted, account=account)
        self.__dict__ = draft.__dict__

    def _go_on(self, X: Any, given: Given) -> None:
        fitted, learner, known = self._fitted, self._fitted.learner, self._fitted.names
        fitted.built.check_same(self._asked(fitted.built.spec))
        taken = self._validate(self, X, given.y, fitted.encoding, reset=False)
        check_shape(taken.shape, fitted.built.spec)
        weight = sample_weight_asked(given.sample_weight, len(taken.labels))
        check_family(taken.labels, known, "before")
        if given.classes is not None and not np.array_equal(np.unique(np.asarray(given.classes)), np.unique(known)):
            first, now = shown(known.tolist()), shown(given.classes)
            raise ValueError(f"classes must be those of the first call, {first}, got {now}")
        strangers = np.setdiff1d(taken.labels, known)
        fitted.refuse_strangers(strangers)
        batches = learner.batches
        try:
            with learner.all_or_nothing():
                if len(strangers):
                    self._fitted = replace(fitted, names=np.concatenate([known, strangers]))
                    learner.add_classes(len(self._fitted.names))
                order = np.arange(len(taken.labels))
                account = self._learn(self._fitted, taken, order, weight, given.ids, given.said)
                self._fitted = replace(self._fitted, account=account)
        except BaseException:
            # undone, not merely interrupted after it was done
            if learner.spec.n_classes == len(known) and learner.batches == batches:
                self._fitted = fitted
            raise

    def _learn(
        self,
        fitted: Fitted,
        taken: Taken,
        order: Ints,
        weight: NDArray[np.float32] | None,
        ids: ArrayLike | None = None,
        said: Said | None = None,
    ) -> Account:
        """Learn the rows in this order; the account with them. ``said`` is of a call of one batch."""
        kept = kept_ids(fitted.learner, ids)
        fitted.learner.class_weight = class_weight_asked(self.class_weight, fitted.names)
        y = torch.from_numpy(positions(fitted.names, taken.labels))
        data = Batch(taken.rows, y, ids=kept, weight=None if weight is None else torch.from_numpy(weight))
        order = order if weight is None else order[weight[order] > 0]
        return self._fed(fitted, data.take, y.numpy(), order, said)

    def _fed(
        self,
        fitted: Fitted,
        take: Callable[[Ints], Batch],
        y: Ints,
        order: Ints,
        said: Said | None,
        learned: Callable[[], None] = lambda: None,
    ) -> Account:
        """Learn what ``take`` gives of the rows in this order, with ``learned`` after each; the account with them."""
        told = RowsLearned(type(self).__name__, len(order), self.verbose)
        account, batches, start = fitted.account.widened(len(fitted.names)), fitted.learner.batches, 0

        def reached(done: int) -> None:
            nonlocal account, batches, start
            learned()
            if said is None and fitted.learner.batches != batches:
                account = counted(account, fitted.learner, y[order[start:done]])
            batches, start = fitted.learner.batches, done
            told.reached(done)

        feed(fitted.learner, take, order, self.batch_size, reached)
        if said is None:
            return account
        probabilities = None if said.probabilities is None else widened(said.probabilities, len(fitted.names))
        return account.after(y[order], probabilities, said.guesses)

    def _probabilities(self, X: Any) -> tuple[NDArray[np.float64], Labels]:
        """Probabilities, and the label of each column."""
        door, fitted = self._door, self.__dict__.get("_fitted")
        if door is not None and door.fitted is fitted and door.fitted.columns is None:
            rows = door.rows(X)
            if rows is not None:
                return self._answers(rows)
        check_is_fitted(self)
        return self._answers(self._encoded_table(X).x if self._takes_table(X) else self._rows_given(X))

    def _rows_given(self, X: Any) -> Rows:
        """Rows of numbers to predict, checked."""
        with one_line():
            flat, shape = flat_rows(encoded(self._fitted.encoding, self.encoder, X))
            flat = validate_data(self, flat, accept_sparse="csr", reset=False, ensure_all_finite=self._may_miss)
            check_shape(shape, self._fitted.built.spec)
            return rows_of(self._fitted.without_gaps(flat))

    def _answers(self, rows: Rows) -> tuple[NDArray[np.float64], Labels]:
        """Probabilities of rows as the learner takes them, and the label of each column."""
        found = self._fitted.learner.predict_proba(rows).numpy().astype(np.float64)
        found /= found.sum(axis=1, keepdims=True)
        return found, self._fitted.names[: found.shape[1]]  # asked for after the answer: never fewer than its columns

    def _drafted(self, X: Any, y: ArrayLike) -> tuple[SmartClassifier, Taken]:
        """A model to replace this one once it has learned, and the rows that it is to learn."""
        draft = object.__new__(type(self))
        draft.__dict__.update(self.__dict__)
        encoding = None if self.encoder is None else Encoding.of(self.encoder, X)
        return draft, self._validate(draft, X, y, encoding, reset=True)

    def _validate(self, model: SmartClassifier, X: Any, y: ArrayLike, encoding: Encoding | None, reset: bool) -> Taken:
        check_batch_size(self.batch_size)
        check_verbose(self.verbose)
        with one_line():
            flat, shape = flat_rows(encoded(encoding, self.encoder, X))
            check_labels(y)
            checked = {"accept_sparse": "csr", "reset": reset, "ensure_all_finite": self._may_miss}
            flat, y = validate_data(model, flat, as_array(y), **checked)
            check_classification_targets(y)
            gaps = gaps_of(flat) if reset else None
            filled = flat if gaps is None else gaps.filled(flat)
            filled = filled if reset else self._fitted.without_gaps(flat)
            return Taken(rows_of(filled), labels_of(np.asarray(y)), shape, encoding, gaps)

    @property
    def _may_miss(self) -> bool | str:
        """The argument of scikit-learn's check for missing values: an encoder's vectors have none."""
        return "allow-nan" if self.encoder is None else True

    def _new(self, taken: Taken, classes: Labels, rng: np.random.RandomState, fixed: bool) -> Fitted:
        fitted = self._begun(spec_of(taken.rows, len(classes), taken.shape), classes, fixed, rng)
        return replace(fitted, encoding=taken.encoding, gaps=taken.gaps)

    def _begun(self, spec: InputSpec, classes: Labels, fixed: bool, rng: np.random.RandomState) -> Fitted:
        """A learner that has seen nothing."""
        built = self._asked(spec)
        learner = built.learner(int(rng.randint(2**31 - 1)))
        return Fitted(learner, classes, fixed, built, account=Account.none(len(classes)))

    def _feature_names(self, fitted: Fitted) -> Sequence[str] | None:
        """What the learner's features are called, if that is known."""
        if fitted.columns is not None:
            return FeatureNames(fitted.columns)
        names = getattr(self, "feature_names_in_", None)
        if names is None or fitted.gaps is None:
            return None if names is None else [str(name) for name in names]
        return [*names, *(f"{names[column]} is missing" for column in fitted.gaps.says)]

    def _asked(self, spec: InputSpec) -> Built:
        """The settings that a learner would be made from now."""
        arguments = self.get_params(deep=False)
        return Built.of(method_asked(arguments), self.memory, parameters_asked(arguments), spec, self.total)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
