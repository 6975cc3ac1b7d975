"""Checkpoints as contracts: what a published ``config.json`` says about RoPE.

``document`` reads the file, ``reader`` finds the RoPE in it, ``blocks`` reads one set of
RoPE parameters with the help of ``keys`` and ``values``, ``published`` holds the outcome,
and ``comparison`` turns it into findings about what is built.
"""
