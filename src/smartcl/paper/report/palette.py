"""Every colour of the report by name, in a light and a dark version; a method has the same colour in every figure."""

from __future__ import annotations

import re

#: Name to (light, dark). The page defines them as CSS variables, so one drawing serves both themes.
COLOURS = {
    "page": ("#f7f7f5", "#14161a"),
    "surface": ("#ffffff", "#1d2026"),
    "ink": ("#1c1e21", "#e9eaec"),
    "muted": ("#5d636b", "#a3a9b2"),
    "line": ("#dcdee1", "#343942"),
    "good": ("#1f6fb2", "#3987cf"),
    "bad": ("#c2571a", "#c8672e"),
    "on-heat": ("#ffffff", "#ffffff"),
    "red": ("#cf2b4b", "#ff6f84"),
    "orange": ("#d9730d", "#ffa557"),
    "blue": ("#2467b3", "#6db0f5"),
    "green": ("#2a8050", "#5cc98f"),
    "teal": ("#0b8288", "#45c6cb"),
    "olive": ("#75801a", "#bccb52"),
    "brown": ("#875f38", "#cfa67b"),
    "violet": ("#7446c7", "#b59bfd"),
    "pink": ("#b32d80", "#f27fc0"),
    "indigo": ("#4a4fc4", "#959bff"),
    "ochre": ("#a8700f", "#e3b557"),
    "slate": ("#66707c", "#9aa6b4"),
}

METHODS = {
    "smart": "red", "adaptive": "red", "smart-paper": "orange", "er": "blue", "gss-greedy": "green", "gss-iqp": "teal",
    "gss-clust": "olive", "fss-clust": "brown", "gdumb": "slate", "der++": "violet", "er-ace": "pink",
    "er-smart": "blue", "der++-smart": "violet", "joint": "muted", "joint-smart": "red",
    "icarl": "indigo", "gem": "teal", "a-gem": "green",
    "ncc": "red", "ewc": "blue", "ewc-online": "indigo", "si": "green", "l2": "olive", "mas": "violet",
    "finetune": "slate", "randumb": "brown",
    "river-arf": "blue", "river-srp": "green", "river-hat": "olive", "river-logistic": "violet",
    "river-leveraging-bagging": "teal", "vowpal-wabbit": "ochre", "vowpal-wabbit-pairs": "orange",
    "lightgbm-window": "indigo", "sklearn-sgd": "brown", "sklearn-mlp": "ochre", "deep-river-mlp": "slate",
    "commonest": "slate", "last-label": "pink",
    "class-means": "olive", "shared-lda": "blue", "ranpac": "violet", "logistic-all-rows": "slate",
}  # fmt: skip


def of_method(method: str) -> str:
    """The colour's name for a method; slate for one that has none of its own."""
    return METHODS.get(method, "slate")


def css() -> str:
    """The variables for both themes: the system's choice, unless the reader made another."""
    light, dark = (
        " ".join(f"--{name}:{pair[side]};" for name, pair in COLOURS.items())
        + f" color-scheme:{('light', 'dark')[side]}"
        for side in (0, 1)
    )
    return (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
        f":root[data-theme=dark] {{ {dark} }}\n"
    )


def fixed(drawing: str) -> str:
    """The drawing in light colours, written out for programs that know no CSS variables.

    >>> fixed("fill:var(--ink)")
    'fill:#1c1e21'
    """
    return re.sub(r"var\(--([\w-]+)\)", lambda found: COLOURS[found[1]][0], drawing)
