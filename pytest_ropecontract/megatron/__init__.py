"""What a Megatron version accepts and does with it, live or recorded."""
