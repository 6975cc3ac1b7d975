"""What the tests share."""

from __future__ import annotations

# A run of pytest inside of this process drops what it imports first. Extension modules that are
# imported again and again that way end Python 3.11 with a fatal error at its exit.
from hypothesis import Phase, settings

# No example is too slow: a machine may have other things to do.
settings.register_profile("no-deadline", settings(), deadline=None)
# For thousands of runs, of which only the outcome is asked: mutants of the package.
settings.register_profile(
    "mutants", settings(), deadline=None, max_examples=10, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("no-deadline")

pytest_plugins = ["pytester", "suite_traces"]
