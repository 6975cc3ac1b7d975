"""A small training framework on top of Megatron."""
