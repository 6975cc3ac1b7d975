"""Checkpoints as contracts: what a published ``config.json`` says about RoPE.

``files`` says which files are a model's, ``document`` reads one, ``reader`` finds the RoPE in
it, and ``blocks`` reads one set of RoPE parameters; ``keys``, ``values`` and ``model_types``
hold what both need. ``published`` is the outcome. ``comparison`` turns it into findings about
what is built, with ``expected`` for the size of a difference and ``reach`` for what would set a
value.
"""
