"""The two analyses of this floor, as the runner knows them."""

from landscope.landscape.line_analysis import analyse_line
from landscope.landscape.plane_analysis import analyse_plane

__all__ = ["analyse_line", "analyse_plane"]
