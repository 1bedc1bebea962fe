"""Makes the graph builder importable, in the folders below, too."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
