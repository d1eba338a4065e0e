"""What travels between window, engine host and command line: jobs, events, frames and errors."""
