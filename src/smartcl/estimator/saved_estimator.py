"""Saved forms of an estimator: a folder, a pickle, a deep copy, a plain module."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from smartcl.estimator.fitted import Fitted
from smartcl.estimator.input_checks import loaded_arguments, named_code, saved_arguments
from smartcl.network.onnx_graph import save_network
from smartcl.network.plain import PlainNetwork
from smartcl.saving.persistence import attached, detached, load_state, save_state
from smartcl.saving.references import check_trusted, only_trusted, trusted_names
from smartcl.saving.saved import Saved

#: Attributes that belong to this object in this process.
HERE_ONLY = ("_lock", "_door")


class SavedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose learned state is one value, ``_fitted``, replaced as a whole under one lock."""

    _fitted: Fitted

    @property
    def _companions(self) -> Mapping[str, Any]:
        """What others keep in the folder of this model, by name."""
        return self._known("_companions").companions

    def save(self, folder: str | os.PathLike[str], only: bool = False) -> None:
        """Write the whole state: weights, averages, optimizer, memory, random state.

        The state saved before is kept beside it, unless it is to be the ``only`` one.
        """
        self._save_with(folder, None, only)

    def _save_with(self, folder: str | os.PathLike[str], companions: Mapping[str, Any] | None, only: bool) -> None:
        """Save, with what others keep in the same folder in the place of what they kept there before."""
        check_is_fitted(self)
        with self._one_at_a_time():
            if companions is not None:
                self._fitted = replace(self._fitted, companions=companions)
            names = getattr(self, "feature_names_in_", None)
            state = {
                "estimator": saved_arguments(self.get_params(deep=False)),
                "feature_names": None if names is None else names.tolist(),
                **self._fitted.registered().state_dict(),
            }
            save_state(folder, state, only)

    def to_torch(self) -> PlainNetwork:
        """A plain PyTorch module from raw rows to probabilities, columns as in ``classes_``; it shares nothing."""
        check_is_fitted(self)
        self._check_alone()
        return self.network_alone()

    def network_alone(self) -> PlainNetwork:
        """The same from encoded rows: those that ``columns_`` makes of a table."""
        check_is_fitted(self)
        with self._fitted.learner.finished() as learner:
            return learner.as_module()

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """The same as an ONNX file; the classes stand in its metadata."""
        check_is_fitted(self)
        self._check_alone()
        save_network(self.network_alone(), path, [str(name) for name in self._known("classes_").classes])

    def _check_alone(self) -> None:
        """Refuse to make a module of what must be encoded first."""
        if self._fitted.columns is not None or self._fitted.gaps is not None:
            raise ValueError(
                "a plain module takes whole rows of numbers, and this model has learned a table, or rows with missing "
                "values: TableModel.to_torch makes one of a table of numbers"
            )

    @classmethod
    def load(cls, folder: str | os.PathLike[str], trust: Sequence[str] | str = ()) -> Self:
        """The saved model; learning on is bit-identical to never having stopped.

        Code of a user's own (a network, an optimizer, an augmentation, an encoder, members) is saved by its name.
        ``trust`` names the modules or packages that may be imported to get it; by default nothing is.
        """
        trusted = trusted_names(trust)
        state = load_state(folder)
        try:
            with only_trusted(trusted):
                saved = Saved(state)
                check_trusted(named_code(saved))
                return cls._from_state(saved)
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from None

    def _one_at_a_time(self) -> RLock:
        lock: RLock = self.__dict__.setdefault("_lock", RLock())
        return lock

    def _known(self, name: str) -> Fitted:
        """The learned state; before ``fit`` the attribute is not there."""
        if "_fitted" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has no {name} yet: call fit or partial_fit first")
        return self._fitted

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    @classmethod
    def _from_state(cls, saved: Saved) -> Self:
        model = cls(**loaded_arguments(saved, cls().get_params()))
        fitted = Fitted.from_state(saved)
        model.n_features_in_ = fitted.n_columns
        names = saved.optional_items("feature_names")
        if names is not None:
            if len(names) != model.n_features_in_ or not all(isinstance(name, str) for name in names):
                saved.refuse("feature_names", f"must be {model.n_features_in_} texts")
            model.feature_names_in_ = np.array(names, dtype=object)
        model._fitted = fitted
        return model

    def __getstate__(self) -> dict[str, Any]:
        """Plain values and arrays of its own: what is sent to another process shares nothing with this one."""
        if not self.__sklearn_is_fitted__():
            return {name: value for name, value in self.__dict__.items() if name not in HERE_ONLY}
        with self._one_at_a_time():
            state = {name: value for name, value in self.__dict__.items() if name not in (*HERE_ONLY, "_fitted")}
            return {**state, "_fitted": detached(self._fitted.state_dict()), "_own": self._fitted.built.own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        own = self.__dict__.pop("_own", None)
        if "_fitted" in state:
            self._fitted = Fitted.from_state(Saved(attached(*state["_fitted"])), own)
