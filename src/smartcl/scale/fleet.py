"""A fleet: one model for each value of a column."""


class Fleet:
    pass
