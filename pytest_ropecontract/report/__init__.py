"""What is shown and written of a run."""
