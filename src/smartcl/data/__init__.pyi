from smartcl.data.batch import Batch as Batch
from smartcl.data.batch import Rows as Rows
from smartcl.data.spec import InputSpec as InputSpec
