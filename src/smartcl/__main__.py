"""``python -m smartcl``."""

from smartcl.cli.app import main

main()
