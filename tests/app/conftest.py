"""Lets the tests of the window share modules that lie here: made-up sessions, hosts that compute nothing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
