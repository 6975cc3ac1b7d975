"""The tests that run under the definitions' own files."""
