"""Layer specifications for models that Megatron does not build on its own."""
