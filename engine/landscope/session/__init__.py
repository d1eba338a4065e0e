"""What has been found so far, in memory and in one HDF5 file; no torch, no Qt."""
