from smartcl import extend as extend
from smartcl.estimator import SmartClassifier as SmartClassifier
from smartcl.files.table_model import TableModel as TableModel
from smartcl.files.table_model import load as load
from smartcl.files.training import train_stream as train_stream
from smartcl.own_loop import ReplayMemory as ReplayMemory
from smartcl.scale.fleet import Fleet as Fleet
from smartcl.scale.fleet import train_fleet as train_fleet
from smartcl.scale.merging import shard_of as shard_of
from smartcl.scale.shards import train_shards as train_shards
from smartcl.scale.tables import merge as merge
from smartcl.scale.tables import subtract as subtract

__version__: str
