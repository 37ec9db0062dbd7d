from smartcl import extend as extend
from smartcl.estimator import SmartClassifier as SmartClassifier
from smartcl.files.table_model import TableModel as TableModel
from smartcl.files.training import train_stream as train_stream
from smartcl.load_model import load as load
from smartcl.own_loop import ReplayMemory as ReplayMemory

__version__: str
