"""What leaves a session as files for other programs: tables, arrays and a summary; no torch, no Qt."""
