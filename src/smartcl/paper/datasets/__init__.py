"""The paper's streams: tasks with test sets, by name, and labels made wrong on purpose."""

from smartcl.paper.datasets.civil_unrest import civil_unrest as civil_unrest
from smartcl.paper.datasets.corruption import NoiseModel as NoiseModel
from smartcl.paper.datasets.corruption import corrupt as corrupt
from smartcl.paper.datasets.digit_pairs import disjoint_digits as disjoint_digits
from smartcl.paper.datasets.digit_pairs import disjoint_mnist as disjoint_mnist
from smartcl.paper.datasets.digit_pairs import split_mnist as split_mnist
from smartcl.paper.datasets.digits import DigitImages as DigitImages
from smartcl.paper.datasets.flu import flu as flu
from smartcl.paper.datasets.mnist import load_mnist as load_mnist
from smartcl.paper.datasets.newsgroups import newsgroups as newsgroups
from smartcl.paper.datasets.registry import load_stream as load_stream
from smartcl.paper.datasets.simulated import SimulatedEvents as SimulatedEvents
from smartcl.paper.datasets.simulated import simulated_events as simulated_events
from smartcl.paper.datasets.task_stream import Task as Task
from smartcl.paper.datasets.task_stream import TaskStream as TaskStream
