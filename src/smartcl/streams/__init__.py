"""What arrives: batches, streams of tasks, the benchmarks, and label corruption."""

from smartcl.streams.batch import Batch as Batch
from smartcl.streams.batch import Rows as Rows
from smartcl.streams.civil_unrest import civil_unrest as civil_unrest
from smartcl.streams.corruption import NoiseModel as NoiseModel
from smartcl.streams.corruption import corrupt as corrupt
from smartcl.streams.datasets import load_stream as load_stream
from smartcl.streams.digit_streams import disjoint_digits as disjoint_digits
from smartcl.streams.digit_streams import disjoint_mnist as disjoint_mnist
from smartcl.streams.digit_streams import split_mnist as split_mnist
from smartcl.streams.digits import DigitImages as DigitImages
from smartcl.streams.flu import flu as flu
from smartcl.streams.mnist import load_mnist as load_mnist
from smartcl.streams.newsgroups import newsgroups as newsgroups
from smartcl.streams.simulated import SimulatedEvents as SimulatedEvents
from smartcl.streams.simulated import simulated_events as simulated_events
from smartcl.streams.stream import InputSpec as InputSpec
from smartcl.streams.stream import Task as Task
from smartcl.streams.stream import TaskStream as TaskStream
