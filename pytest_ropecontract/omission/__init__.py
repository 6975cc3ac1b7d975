"""What can be left out of a command line, and whether anybody would notice."""
