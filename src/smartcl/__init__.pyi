from smartcl.data import Batch as Batch
from smartcl.data import InputSpec as InputSpec
from smartcl.estimator import SmartClassifier as SmartClassifier
from smartcl.files.table_model import TableModel as TableModel
from smartcl.files.training import train_stream as train_stream
from smartcl.learners.factory import Method as Method
from smartcl.learners.learner import Learner as Learner
from smartcl.learners.methods import METHODS as METHODS
from smartcl.learners.methods import build_learner as build_learner
from smartcl.learners.methods import register_method as register_method
from smartcl.learners.recipe import Recipe as Recipe
from smartcl.memory import Pool as Pool
from smartcl.memory import Selection as Selection
from smartcl.memory import Selector as Selector
from smartcl.own_loop import ReplayMemory as ReplayMemory
from smartcl.regularizers.regularizer import Regularizer as Regularizer
from smartcl.scale.fleet import Fleet as Fleet
from smartcl.scale.shards import train_shards as train_shards
from smartcl.scale.tables import merge as merge
from smartcl.scale.tables import subtract as subtract

__version__: str
