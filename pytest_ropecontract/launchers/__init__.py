"""What launchers would have run: recorded, never executed."""
