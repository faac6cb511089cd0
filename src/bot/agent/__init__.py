"""What an agent turn stands on: the model, its loop, its tools, and the outside they reach."""
