"""The HDF5 library, loaded so that no file can make it load code.

Everything here that needs h5py takes it from this module. A file may name a filter that is not built in;
libhdf5 then searches plugin folders for a shared library. ``HDF5_PLUGIN_PRELOAD=::`` switches that off for
the whole process, but only when it is set before the library starts.
"""

from __future__ import annotations

import os

os.environ["HDF5_PLUGIN_PRELOAD"] = "::"

import h5py

__all__ = ["h5py"]
