"""The effective rotary position embedding: what is built, and where its values come from."""
