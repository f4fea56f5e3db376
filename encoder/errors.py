"""Errors of trifuse, and those of the encoder.

TrifuseError                the root of every error that trifuse raises on purpose
├── EncoderError            anything about models, texts and spaces
│   ├── ModelNotFound       no model by that name, no folder at that path
│   ├── ModelInvalid        a model folder that lacks a file, or whose files contradict each other
│   ├── DeviceUnavailable   a device was asked for that onnxruntime can't give
│   ├── RuntimeMissing      neither, or both, of the ONNX runtimes are installed
│   ├── EncodingFailed      the model's graph failed on a batch
│   ├── InvalidText         a text that can't be encoded
│   ├── InvalidVector       a vector with NaN, an infinity, or no length
│   ├── SpaceMismatch       a vector would be compared with one from another space
│   ├── AspectUnknown       an aspect was asked for that an adapter, or trifuse, doesn't know
│   ├── LabelsInvalid       a file of labelled texts that isn't what it should be
│   └── TrainingError       anything about training a model
│       ├── TrainingMissing     the extra `train` isn't installed
│       ├── TrainingInvalid     a recipe, or examples, that nothing can be trained by
│       ├── CheckpointInvalid   a checkpoint, or a run's saved state, that can't be trained further
│       └── ExportFailed        the exported graph doesn't give the vectors of the trained model
├── DownloadFailed          a pinned file couldn't be fetched
│   └── CorruptDownload     what was fetched isn't what was pinned
├── IndexerError            trifuse.indexer.errors
├── RankerError             trifuse.ranker.errors
├── WorkerError             trifuse.worker.errors
└── DeployError             trifuse.deploy.errors
"""

from __future__ import annotations


class TrifuseError(Exception):
    """An error that trifuse raises on purpose: its message names the input and the remedy."""


class EncoderError(TrifuseError):
    """An error about models, texts or spaces."""


class ModelNotFound(EncoderError):
    """No model by that name, no folder at that path."""


class ModelInvalid(EncoderError):
    """A model folder that lacks a file, or whose files contradict each other."""


class DeviceUnavailable(EncoderError):
    """A device was asked for that onnxruntime can't give."""


class RuntimeMissing(EncoderError):
    """Neither, or both, of the ONNX runtimes are installed."""


class EncodingFailed(EncoderError):
    """The model's graph failed on a batch."""


class InvalidText(EncoderError):
    """A text that can't be encoded."""


class InvalidVector(EncoderError):
    """A vector with NaN, an infinity, or no length."""


class SpaceMismatch(EncoderError):
    """A vector would be compared with one from another space."""


class AspectUnknown(EncoderError):
    """An aspect was asked for that an adapter, or trifuse, doesn't know; the message names those it knows."""


class LabelsInvalid(EncoderError):
    """A file of labelled texts that isn't what it should be; the message names the file and the line."""


class TrainingError(EncoderError):
    """An error about training a model."""


class TrainingMissing(TrainingError):
    """The extra `train` isn't installed."""


class TrainingInvalid(TrainingError):
    """A recipe, or examples, that nothing can be trained by."""


class CheckpointInvalid(TrainingError):
    """A checkpoint, or a run's saved state, that can't be trained further."""


class ExportFailed(TrainingError):
    """The exported graph doesn't give the vectors of the trained model."""


class DownloadFailed(TrifuseError):
    """A pinned file couldn't be fetched."""


class CorruptDownload(DownloadFailed):
    """What was fetched isn't what was pinned."""
