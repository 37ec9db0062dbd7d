"""``python -m smartcl``."""

from smartcl.cli.main import main

main()
