"""Speed, memory and scale: every figure is a ratio or a count inside one run."""
