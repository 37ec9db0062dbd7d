"""Input that strangers might give: made from a seed, to be thrown at every door."""
