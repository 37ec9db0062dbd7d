"""Tables of any kind of column as rows of numbers: what the columns are, and what each value becomes."""
