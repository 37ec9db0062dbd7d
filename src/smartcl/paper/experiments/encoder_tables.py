"""Tables of encoded rows: CIFAR-10 by EfficientNet-Lite0, 20 Newsgroups by WordLlama, beside rivals in closed form."""

from __future__ import annotations

from smartcl.paper.experiments.run_table import Row, Table
from smartcl.paper.peers.rivals import RIVALS

#: What memory ``adaptive`` has; rivals store no samples.
MEMORY = "500kB"
NO_MEMORY = "none"

OURS = Row("adaptive", "adaptive")
CLOSED_FORMS = tuple(Row(rival.label, name, at={"memory": NO_MEMORY}) for name, rival in RIVALS.items())


def wrong_labels(*percents: int) -> dict[str, dict[str, str]]:
    """Columns by the share of labels that are another class's."""
    return {
        f"{orders}, {percent}% wrong" if percent else f"{orders}, clean": {
            "dataset": ending,
            "memory": MEMORY,
            "noise": f"foreign:0.{percent // 10}" if percent else "none",
        }
        for percent in percents
        for orders, ending in (("in turn", ""), ("shuffled", "-shuffled"))
    }


def encoder_table(name: str, title: str, dataset: str, percents: tuple[int, ...], seeds: int) -> Table:
    """All rows on one data set: classes two at a time and all at once, with these shares of wrong labels."""
    columns = {
        column: {**settings, "dataset": f"{dataset}{settings['dataset']}"}
        for column, settings in wrong_labels(*percents).items()
    }
    rows = (OURS, *CLOSED_FORMS)
    return Table(name, title, None, rows, tuple(columns), columns.__getitem__, {}, seeds=seeds)


ENCODER_TABLES = {
    table.name: table
    for table in (
        encoder_table(
            "encoders",
            "CIFAR-10 on EfficientNet-Lite0 (96 pixels), 50,000 images, classes two at a time and shuffled",
            "encoded-cifar10",
            (0, 20, 40, 60),
            seeds=1,
        ),
        encoder_table(
            "encoders-short",
            "CIFAR-10 on EfficientNet-Lite0 (96 pixels), 5,000 images, classes two at a time and shuffled",
            "encoded-cifar10-short",
            (0, 40),
            seeds=3,
        ),
        encoder_table(
            "encoders-texts",
            "20 Newsgroups on WordLlama, all messages, groups two at a time and shuffled",
            "encoded-newsgroups",
            (0, 40),
            seeds=3,
        ),
    )
}
