"""Loss and metrics, and what a call of them may not leave behind."""
