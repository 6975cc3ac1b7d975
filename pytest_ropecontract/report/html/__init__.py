"""The HTML report: one page for people, in one file that works offline."""
