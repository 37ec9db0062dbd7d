"""The table of all methods by name. A builder is imported when it is called; users add methods of their own."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from smartcl.learners import method_settings as settings
from smartcl.learners.factory import Builder, Factory, Method
from smartcl.learners.registry import Registry
from smartcl.settings import nearest, shown

if TYPE_CHECKING:
    from smartcl.data.spec import InputSpec
    from smartcl.learners.factory import Settable
    from smartcl.learners.stream_learner import StreamLearner

#: The method of an estimator and of a training, unless another is asked for.
USUAL_METHOD = "adaptive"

#: The paper's authors, and those of its selection by gradients.
SMART = "Gao, Ascoli & Zhao 2021"
GSS = "Aljundi, Lin, Goujaud & Bengio 2019"


def _method(place: str, its_settings: Settable, citation: str, task_aware: bool = False) -> Method:
    return Method(Builder(place), its_settings, citation, task_aware)


OURS: dict[str, Method] = {
    "adaptive": _method("adaptive:adaptive", settings.AdaptiveSettings(), SMART),
    "smart": _method("smart:smart", settings.SmartSettings(), SMART),
    "smart-quick": _method("smart:smart_quick", settings.QuickSettings(), SMART),
    "smart-paper": _method("smart:smart_paper", settings.SmartPaperSettings(), SMART),
    "er": _method("replay:er", settings.ReplaySettings(), "Chaudhry et al. 2019"),
    "gss-greedy": _method("replay:gss_greedy", settings.AlternatingSettings(), GSS),
    "gss-iqp": _method("replay:gss_iqp", settings.AlternatingSettings(), GSS),
    "gss-clust": _method("replay:gss_clust", settings.AlternatingSettings(), GSS),
    "fss-clust": _method("replay:fss_clust", settings.FSSClustSettings(), GSS),
    "gdumb": _method("gdumb:gdumb", settings.GDumbSettings(), "Prabhu, Torr & Dokania 2020"),
    "der++": _method("der:derpp", settings.DERSettings(), "Buzzega et al. 2020"),
    "er-ace": _method("er_ace:er_ace", settings.ReplaySettings(), "Caccia et al. 2022"),
    "gem": _method("gem:gem", settings.GEMSettings(), "Lopez-Paz & Ranzato 2017", task_aware=True),
    "a-gem": _method("gem:agem", settings.AGEMSettings(), "Chaudhry et al. 2019", task_aware=True),
    "icarl": _method("icarl:icarl", settings.ICaRLSettings(), "Rebuffi et al. 2017", task_aware=True),
    "randumb": _method("randumb:randumb", settings.RanDumbSettings(), "Prabhu et al. 2024"),
    "l2": _method("regularized:l2", settings.PenaltySettings(strength=0.5), "Hsu, Liu, Ramasamy & Kira 2018"),
    "ewc": _method("regularized:ewc", settings.PenaltySettings(strength=100.0), "Kirkpatrick et al. 2017"),
    "ewc-online": _method("regularized:ewc_online", settings.PenaltySettings(strength=700.0), "Schwarz et al. 2018"),
    "si": _method("regularized:si", settings.PenaltySettings(strength=3000.0), "Zenke, Poole & Ganguli 2017"),
    "mas": _method("regularized:mas", settings.PenaltySettings(strength=10_000.0), "Aljundi et al. 2018"),
    "ncc": _method("regularized:ncc", settings.PenaltySettings(strength=250.0, init="xavier"), SMART),
    "finetune": _method("finetune_and_joint:finetune", settings.FinetuneSettings(), "the lower end of the scale"),
    "joint": _method("finetune_and_joint:joint", settings.ReplaySettings(), "the upper end of the scale"),
    "er-smart": _method(
        "learned_as_smart:er_smart", settings.ReservoirTraining(), "Chaudhry et al. 2019, with our training"
    ),
    "der++-smart": _method(
        "learned_as_smart:derpp_smart", settings.DarkTraining(), "Buzzega et al. 2020, with our training"
    ),
    "joint-smart": _method(
        "learned_as_smart:joint_smart", settings.SmartTraining(), "the upper end of the scale, with our training"
    ),
}

#: Ours by name, and those that others have registered or declared as entry points of this group.
METHODS: Registry[Method] = Registry(
    {name: partial(OURS.__getitem__, name) for name in OURS}, group="smartcl.methods", take=Method.of
)


def register_method(name: str, method: Method | Factory) -> None:
    """Make a method of one's own known by a name: to the estimator, to ``build_learner``, and to models it is saved in.

    A package does so for everybody who installs it, on the command line too, by an entry point of the group
    ``smartcl.methods``.

    >>> from smartcl.data import InputSpec
    >>> def plain(spec, memory, seed, *, hidden=(8,)):
    ...     return build_learner("er", spec, memory, seed, hidden=hidden)
    >>> register_method("plain", plain)
    >>> build_learner("plain", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(3,)).recipe.hidden
    (3,)
    >>> del METHODS["plain"]
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]{1,60}", name):
        raise ValueError(f"name must be up to 60 letters, digits, '.', '+', '-' or '_', got {shown(name)}")
    if name in METHODS.ours:
        raise ValueError(f"name must be another than {name!r}, which is a method of smartcl itself")
    METHODS[name] = Method.of(method)


def registered_name(maker: str | Method | Factory) -> str:
    """The name under which this method or factory is known here, or a ``ValueError`` that says how it becomes so."""
    name = maker if isinstance(maker, str) else METHODS.name_of(lambda method: method == Method.of(maker))
    if name is None:
        raise ValueError(
            "a learner of one's own must be registered to be saved, here and where it is loaded: "
            "smartcl.extend.register_method('a-name', learner)"
        )
    return name


def check_registered(name: str) -> str:
    """The name of a method that a saved model asks for, if it is known here."""
    if name not in METHODS:
        raise ValueError(
            f"the method {shown(name)} is not registered here: call smartcl.extend.register_method({shown(name)}, ...) "
            "before loading, or install the package that has it"
        )
    return name


def method_of(maker: str | Method | Factory) -> Method:
    """The method of this name, or the one that this object is."""
    return find_method(maker) if isinstance(maker, str) else Method.of(maker)


def find_method(name: str) -> Method:
    """The method of this name, or an error that lists the nearest names.

    >>> find_method("smart").citation
    'Gao, Ascoli & Zhao 2021'
    """
    if not isinstance(name, str):
        raise ValueError(f"method must be a name, got {shown(name)}")
    if name not in METHODS:
        raise ValueError(f"unknown method {shown(name)}: {nearest(name, METHODS)}")
    return METHODS[name]


def build_learner(
    name: str, spec: InputSpec, memory: str | int, seed: int = 0, *, total: str | int | None = None, **parameters: Any
) -> StreamLearner:
    """A learner by name; with a ``total``, its whole state stays within it.

    >>> from smartcl.data import InputSpec
    >>> build_learner("er", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(8,)).memory
    0 samples in 0 B of 1 kB, 4 of 4 features kept
    """
    return find_method(name).learner(spec, memory, seed, total=total, **parameters)
