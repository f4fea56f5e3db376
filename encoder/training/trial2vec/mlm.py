"""Masked-language-model training of the backbone on trials and medical texts, before the contrastive one.

The paper's TrialBERT (Wang and Sun 2022, sections 3.1 and 4.2): a BERT goes on learning words on the domain's
texts. Masked are 15 % of the tokens: 80 % of them by the mask token, 10 % by any token, 10 % not at all
(Devlin et al. 2019). A checkpoint comes here without the head that names words: a new one is trained, and
dropped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.templates import clean_text
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.recipe import require_finite
from trifuse.encoder.training.schedule import learning_rate_factor
from trifuse.encoder.training.state import History, SavedState
from trifuse.encoder.training.trial2vec.examples import minibatches
from trifuse.encoder.training.trial2vec.recipe import Recipe
from trifuse.encoder.training.trial2vec.run import Run, accelerator_for, decayed

_MASKED = 0.15
_WARMUP = 0.05
_MASK_TOKENS = ("[MASK]", "<mask>")
_NOTHING = -100
"""What `cross_entropy` passes over."""


class Windows:
    """Texts as rows of tokens.

    Args:
        texts: of any length; each becomes as many windows as it fills.
        tokenizer: a `tokenizer.json`.
        tokens: of a window, with its special tokens.

    Raises:
        TrainingInvalid: there is no text, or the tokenizer has no token that masks.
    """

    def __init__(self, texts: Iterable[str], tokenizer: Path, tokens: int) -> None:
        self.pad_id = TextTokenizer(tokenizer, tokens).pad_id
        reader = Tokenizer.from_file(str(tokenizer))
        reader.no_padding()
        reader.enable_truncation(max_length=tokens)
        masks = (reader.token_to_id(token) for token in _MASK_TOKENS)
        mask = next((found for found in masks if found is not None), None)
        if mask is None:
            raise TrainingInvalid(
                f"the tokenizer has none of {', '.join(_MASK_TOKENS)}: leave the training on masked words "
                "out (--mlm-epochs 0)"
            )
        self.mask_id = int(mask)
        self.vocabulary = reader.get_vocab_size()
        self._rows: list[NDArray[np.int32]] = []
        special: set[int] = set()
        for text in texts:
            whole = reader.encode(clean_text(text))
            for window in (whole, *whole.overflowing):
                flags = window.special_tokens_mask
                special.update(token for token, flag in zip(window.ids, flags, strict=True) if flag)
                if len(flags) > sum(flags):
                    self._rows.append(np.array(window.ids, dtype=np.int32))
        self._special = np.array(sorted(special), dtype=np.int64)
        if not self._rows:
            raise TrainingInvalid("there is no text to learn words from: give trials with texts")

    def __len__(self) -> int:
        return len(self._rows)

    def masked(self, numbers: NDArray[np.intp], chance: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Masked ids, attention mask, what stood there (-100 where nothing is asked): (n, longest) int64."""
        rows = [self._rows[number] for number in numbers.tolist()]
        lengths = np.array([len(row) for row in rows])
        there = np.arange(lengths.max())[None, :] < lengths[:, None]
        ids = np.full(there.shape, self.pad_id, dtype=np.int64)
        ids[there] = np.concatenate(rows)
        asked = there & ~np.isin(ids, self._special) & (chance.random(ids.shape) < _MASKED)
        labels = np.where(asked, ids, _NOTHING)
        how = chance.random(ids.shape)
        ids[asked & (how < 0.8)] = self.mask_id
        anything = asked & (how >= 0.9)
        ids[anything] = chance.integers(self.vocabulary, size=int(anything.sum()))
        return torch.from_numpy(ids), torch.from_numpy(there.astype(np.int64)), torch.from_numpy(labels)


class MaskedWords(nn.Module):
    """A backbone and a head that names the masked tokens by the backbone's own word vectors."""

    def __init__(self, backbone: Any) -> None:
        super().__init__()
        self.backbone = backbone
        words, width = backbone.get_input_embeddings().weight.shape
        self.project = nn.Linear(int(backbone.config.hidden_size), width)
        self.norm = nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(words))

    def forward(self, ids: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
        """The mean loss of the tokens that are asked for; 0 where none is."""
        asked = labels != _NOTHING
        hidden = self.backbone(input_ids=ids, attention_mask=mask, return_dict=True).last_hidden_state[asked]
        words = self.backbone.get_input_embeddings().weight
        scores = self.norm(functional.gelu(self.project(hidden))) @ words.T + self.bias
        total: Tensor = functional.cross_entropy(scores.float(), labels[asked], reduction="sum")
        return total / max(1, len(hidden))


def train_words(
    backbone: Any,
    windows: Windows,
    recipe: Recipe,
    state: Path,
    *,
    learned_from: Mapping[str, str] | None = None,
    resume: bool = False,
    save_every: int = 500,
    on_step: Callable[[int, int, float], None] | None = None,
) -> list[float]:
    """Train a backbone in place, by the recipe's `mlm_*`.

    Args:
        state: a folder for the run's state, from which `resume` goes on.
        learned_from: names the texts and the backbone: a run isn't resumed on something else.
        on_step: told the step, from 1, of how many, and its loss, in the main process.

    Returns:
        the loss of every step.

    Raises:
        TrainingInvalid: the processes can't share a minibatch.
        CheckpointInvalid: the state is of another recipe, or of other texts.
    """
    accelerator = accelerator_for(recipe.mlm_batch)
    batch = min(recipe.mlm_batch, len(windows))
    steps = recipe.mlm_epochs * (len(windows) // batch)
    model = MaskedWords(backbone)
    optimizer: Any = torch.optim.AdamW(decayed(model, recipe.weight_decay), lr=recipe.mlm_learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate_factor(step, int(_WARMUP * steps), steps)
    )
    wrapped, optimizer = accelerator.prepare(model.train(), optimizer)
    history = History()
    saved = SavedState(
        accelerator, state, Run(recipe, {"windows": len(windows), **(learned_from or {})}), schedule, history
    )
    if resume:
        saved.load()
    for chosen in islice(minibatches(len(windows), batch, recipe.seed), history.steps, steps):
        chance = np.random.default_rng((recipe.seed, 2, history.steps))
        tensors = windows.masked(chosen, chance)
        own = (each[accelerator.process_index :: accelerator.num_processes] for each in tensors)
        loss = wrapped(*(each.to(accelerator.device) for each in own))
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        history.loss.append(float(accelerator.reduce(loss.detach(), "mean")))
        require_finite(history.loss[-1], history.steps)
        if on_step is not None and accelerator.is_main_process:
            on_step(history.steps, steps, history.loss[-1])
        if history.steps % save_every == 0 and history.steps < steps:
            saved.save()
    accelerator.free_memory()
    return history.loss
