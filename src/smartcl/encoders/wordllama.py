"""WordLlama as an encoder of texts: the mean of 256 values of each token, from the table of a package.

The table and the tokens are those of the package wordllama (MIT), which is not imported: a mean needs none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.encoders.packaged import file_of
from smartcl.errors import extra

PACKAGE = "wordllama"
TABLE, TOKENS = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
#: Texts whose tokens are told in one go.
TEXTS_AT_A_TIME = 256


@dataclass(frozen=True)
class TokenMeans:
    """Texts to rows: the mean of their tokens' rows of a table, zeros without a token."""

    table: NDArray[np.float32]
    tokenizer: Any

    @classmethod
    def loaded(cls) -> TokenMeans:
        """With the table of the package."""
        from safetensors.numpy import load_file

        table = load_file(file_of(PACKAGE, TABLE, "encoders"))["embedding.weight"].astype(np.float32)
        tokenizers = extra("tokenizers", "encoders")
        tokenizer = tokenizers.Tokenizer.from_file(str(file_of(PACKAGE, TOKENS, "encoders")))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(table, tokenizer)

    def __call__(self, texts: Any) -> NDArray[np.float32]:
        texts = list(texts)
        stranger = next((text for text in texts if not isinstance(text, str)), None)
        if stranger is not None:
            raise ValueError(f"texts must be str, got {stranger!r:.60}")
        made = np.zeros((len(texts), self.table.shape[1]), np.float32)
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            for place, tokens in enumerate(self._tokens(texts[start : start + TEXTS_AT_A_TIME]), start):
                if tokens:
                    made[place] = self.table[tokens].mean(axis=0)
        return made

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        found = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        last = len(self.table) - 1
        return [[min(token, last) for token in each.ids] for each in found]
