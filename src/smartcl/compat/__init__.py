"""Our memory and our classifier where people already are: one file per library, loaded only by who has it."""
