"""What the names of session files end in; everything else is opened as a project."""

SESSION_ENDINGS = (".h5", ".hdf5", ".landscope")
