"""Public names for authors of methods, members, selectors and penalties; users need ``smartcl`` alone."""

from smartcl.data.batch import Batch as Batch
from smartcl.data.spec import InputSpec as InputSpec
from smartcl.learners.ensemble.member import Member as Member
from smartcl.learners.factory import Method as Method
from smartcl.learners.learner import Learner as Learner
from smartcl.learners.method_settings import SmartSettings as SmartSettings
from smartcl.learners.methods import METHODS as METHODS
from smartcl.learners.methods import build_learner as build_learner
from smartcl.learners.methods import register_method as register_method
from smartcl.learners.recipe import Recipe as Recipe
from smartcl.memory.pool import Pool as Pool
from smartcl.memory.pool import Selection as Selection
from smartcl.memory.pool import Selector as Selector
from smartcl.regularizers.regularizer import Regularizer as Regularizer
from smartcl.selection.geometry import Geometry as Geometry
from smartcl.settings import Flag as Flag
from smartcl.settings import Kind as Kind
from smartcl.settings import LevelCount as LevelCount
from smartcl.settings import Name as Name
from smartcl.settings import Real as Real
from smartcl.settings import Settings as Settings
from smartcl.settings import Whole as Whole
from smartcl.settings import Widths as Widths
from smartcl.settings import Word as Word
from smartcl.settings import of_kind as of_kind
