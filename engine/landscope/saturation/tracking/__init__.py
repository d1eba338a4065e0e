"""The parts of SaturationTracker."""
