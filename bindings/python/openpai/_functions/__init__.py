"""Functions as jobs: what goes along with them, and what they come to."""
