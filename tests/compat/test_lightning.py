from __future__ import annotations

from pathlib import Path

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pytest.importorskip("lightning")

import lightning

from smartcl.compat.lightning import ReplayCallback

X, Y = (torch.from_numpy(part) for part in load_digits(return_X_y=True))
X = (X / 16).float().reshape(-1, 1, 8, 8)


class Net(lightning.LightningModule):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
        self.sizes: list[int] = []

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        x, y = batch
        self.sizes.append(len(y))
        return nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), 3e-3)


def trainer(folder: Path, *callbacks: object, epochs: int = 2) -> lightning.Trainer:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    return lightning.Trainer(max_epochs=epochs, callbacks=list(callbacks), default_root_dir=folder, **quiet)


def loader(pair: int) -> DataLoader[tuple[torch.Tensor, ...]]:
    own = Y[:1200] // 2 == pair
    return DataLoader(TensorDataset(X[:1200][own], Y[:1200][own]), batch_size=20, shuffle=True)


def learned(folder: Path, *callbacks: object) -> tuple[Net, float]:
    """The network after five pairs of digits, one after the other, and its accuracy on all."""
    net = Net()
    for pair in range(5):
        trainer(folder, *callbacks).fit(net, loader(pair))
    return net, float((net.net(X[1200:]).argmax(1) == Y[1200:]).float().mean())


def test_replay_in_every_step(tmp_path: Path) -> None:
    callback = ReplayCallback("6 kB", count=40)
    net, accuracy = learned(tmp_path, callback)
    assert accuracy > learned(tmp_path)[1] + 0.3
    assert max(net.sizes) == 60
    assert callback.memory.nbytes <= 6000
    held = callback.memory._now.held
    assert held is not None
    assert held.memory.offered == 1200


def test_a_checkpoint_has_the_memory(tmp_path: Path) -> None:
    callback = ReplayCallback("6 kB")
    first = trainer(tmp_path, callback, epochs=1)
    first.fit(Net(), loader(0))
    first.save_checkpoint(tmp_path / "model.ckpt")
    again = ReplayCallback("6 kB")
    trainer(tmp_path, again, epochs=2).fit(Net(), loader(0), ckpt_path=tmp_path / "model.ckpt", weights_only=True)
    assert len(again.memory) >= len(callback.memory) > 0


def test_a_batch_that_is_no_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a batch must be a list of inputs and labels"):
        trainer(tmp_path, ReplayCallback("6 kB")).fit(Net(), DataLoader(X[:40], batch_size=20))
