"""The settings of every method, with their defaults: nothing here needs torch.

A method's own settings are a recipe with other defaults and further fields. A field with ``init=False`` is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from smartcl.learners.recipe import MethodTraining, Recipe
from smartcl.settings import OwnMember, Settings


@dataclass(frozen=True)
class ReplaySettings(MethodTraining):
    """Those of a recipe, and whether samples are stored whole."""

    whole: bool = True


@dataclass(frozen=True)
class AlternatingSettings(ReplaySettings):
    """The gradient-based policies alternate steps, as in the paper."""

    joint: bool = False


@dataclass(frozen=True)
class FSSClustSettings(AlternatingSettings):
    """And the layer whose features are compared, penultimate or logits, and whether of two alike the older stays."""

    layer: str = "penultimate"
    memory_first: bool = False


@dataclass(frozen=True)
class DERSettings(MethodTraining):
    """Those of a recipe, and the strengths of the stored logits and of the stored labels."""

    joint: bool = field(default=True, init=False)
    alpha: float = 0.5
    beta: float = 1.0
    whole: bool = True


@dataclass(frozen=True)
class GDumbSettings(MethodTraining):
    """Those of a recipe, for passes over the memory; ``replay`` is the samples of a step."""

    iterations: int = field(default=1, init=False)
    joint: bool = field(default=True, init=False)
    epochs: int = 100
    whole: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.replay:
            raise ValueError("replay must be at least 1, the samples of a step, got 0")


@dataclass(frozen=True)
class AGEMSettings(MethodTraining):
    """Those of a recipe, but that steps on new samples are not joined by stored ones; ``replay`` is the guard's."""

    joint: bool = field(default=True, init=False)
    smoothing: float = field(default=0.0, init=False)
    whole: bool = True


@dataclass(frozen=True)
class GEMSettings(AGEMSettings):
    """All of the memory guards; ``margin`` is the least share of each guarding gradient that is added."""

    replay: int = field(default=0, init=False)
    margin: float = 0.5


@dataclass(frozen=True)
class ICaRLSettings(MethodTraining):
    """Those of a recipe, the strength of distillation, and the layer whose features are compared."""

    joint: bool = field(default=True, init=False)
    strength: float = 1.0
    layer: str = "penultimate"
    whole: bool = True


@dataclass(frozen=True)
class RanDumbSettings(Settings):
    """How many random features there are; the state has two bytes for each pair of them."""

    features: int = 4000


@dataclass(frozen=True)
class PenaltySettings(Recipe):
    """Those of a recipe and the strength of the penalty, which each has of its own."""

    lr: float = 1e-3
    iterations: int = 1
    replay: int = 0
    consolidate: str = "task"
    init: str = "fan-in"
    strength: float = field(kw_only=True)
    whole: bool = True


@dataclass(frozen=True)
class FinetuneSettings(MethodTraining):
    """Those of a recipe, without replay."""

    replay: int = field(default=0, init=False)
    joint: bool = field(default=True, init=False)
    init: str = "xavier"


@dataclass(frozen=True)
class Scepticism(MethodTraining):
    """A recipe, and how a learner guards against wrong labels and forgetting; all zero: not at all."""

    #: Share of the input values dropped in training.
    dropout: float = 0.3
    #: The exponent ``q`` of the robust loss under full doubt.
    robust: float = 0.7
    #: Strength of the averaged network as a teacher of replayed samples, without doubt.
    distill: float = 3.0
    #: The numbers in which networks multiply as they learn: ``float32``, ``bfloat16``, or ``auto``, the latter where
    #: the processor is made for it and labels are believed. None: ``float32``.
    arithmetic: str | None = None


@dataclass(frozen=True)
class SmartTraining(Scepticism):
    """How ``smart`` learns from whatever memory it has: a sceptic's settings, and the objective's two strengths."""

    lr: float = 3e-4
    iterations: int = 20
    replay: int = 300
    joint: bool = field(default=True, init=False)
    average: float = 0.995
    smoothing: float = 0.1
    alpha: float = 1e-4
    form: str = "exact"
    beta: float = 0.0


@dataclass(frozen=True)
class SmartSettings(SmartTraining):
    """And what makes the memory schematic."""

    trust: bool = True
    patience: int = 3
    whole: bool = False
    precision: str | int = "auto"


@dataclass(frozen=True)
class QuickSettings(SmartSettings):
    """Two long steps a batch of a small network, rows without code, no label doubted: for clean labels and little time.

    Chosen on validation images; ``docs/method.md`` says what it costs in accuracy.
    """

    hidden: tuple[int, ...] = (128, 128)
    lr: float = 2e-3
    iterations: int = 2
    replay: int = 100
    dropout: float = 0.0
    robust: float = 0.0
    distill: float = 0.0
    trust: bool = False
    precision: str | int = "plain"


@dataclass(frozen=True)
class SmartPaperSettings(MethodTraining):
    """The paper's (section 5)."""

    joint: bool = field(default=False, init=False)
    average: float = field(default=0.0, init=False)
    smoothing: float = field(default=0.0, init=False)
    alpha: float = 0.0005
    beta: float = 0.001
    threshold: float = 1e-4


@dataclass(frozen=True)
class ReservoirTraining(SmartTraining):
    """And whether samples are stored whole."""

    whole: bool = True


@dataclass(frozen=True)
class DarkTraining(ReservoirTraining):
    """And the strength of the stored logits."""

    dark: float = 0.5


@dataclass(frozen=True)
class AdaptiveSettings(SmartSettings):
    """Those of ``smart``, for the networks among the members; and which members there are."""

    arithmetic: str | None = "auto"
    #: The members: names, classifiers or functions that make one; none: those that suit the rows.
    members: tuple[str | OwnMember, ...] = ()
