"""The rule ``return-arity``: an adapter that unpacks what the built class does not return.

``adapter`` finds the source of what ``--spec`` names, ``guards`` decides which branches are
taken for a built embedding, ``unpacking`` finds where its result is taken apart, and
``rule`` turns that into findings. Nothing of the adapter is imported or run.
"""
