"""What runs in the interpreter of a Python launcher: it records, and guards what is not recorded.

It knows nothing of the rest of the package, which the launcher itself may import.
"""
