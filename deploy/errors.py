"""Errors of the deploy.

TrifuseError
└── DeployError
    ├── NotConfigured           no URL of a service was given, and `trifuse up` runs none
    ├── UnreadableCorpus        a collection of documents to train on can't be read, or lacks one
    ├── DemoFailed              the demonstration can't go on
    ├── TrialsMissing           the extra `trials` isn't installed
    ├── OutcomeInvalid          labels, or a model of outcomes, that can't be used
    ├── MapInvalid              vectors that no picture can be drawn of
    └── LocalServiceError       a service that trifuse starts itself
        ├── JavaMissing         no full Java 21 or newer
        ├── PortInUse           a port that was asked for is taken
        ├── TooLittleDisk       the data folder's disk is too full for OpenSearch
        ├── FolderUnreachable   a folder can't be written to, or the server's user can't enter it
        ├── ProgramMissing      an optional package or program that is needed isn't there
        ├── NotAnswering        a service that was named can't be used
        └── ServiceDied         a service ended, or didn't answer, while it was being started
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class DeployError(TrifuseError):
    """An error of the deploy."""


class NotConfigured(DeployError):
    """No URL of a service was given, and `trifuse up` runs none."""


class UnreadableCorpus(DeployError):
    """A collection of documents to train on can't be read, or lacks a document."""


class DemoFailed(DeployError):
    """The demonstration can't go on: its input, or what it waits for, isn't there."""


class TrialsMissing(DeployError):
    """The extra `trials` isn't installed."""


class OutcomeInvalid(DeployError):
    """Labels that nothing can be learned from, or a model of outcomes that can't be used."""


class MapInvalid(DeployError):
    """Vectors that no picture can be drawn of."""


class LocalServiceError(DeployError):
    """A service that trifuse starts itself can't be started or stopped."""


class JavaMissing(LocalServiceError):
    """There is no full Java 21 or newer on this machine."""


class PortInUse(LocalServiceError):
    """A port that was asked for is taken."""


class TooLittleDisk(LocalServiceError):
    """The disk of the data folder is too full for OpenSearch to accept writes."""


class FolderUnreachable(LocalServiceError):
    """A folder can't be written to, or the user that the server runs as can't enter it."""


class ProgramMissing(LocalServiceError):
    """An optional package or program that is needed isn't installed."""


class NotAnswering(LocalServiceError):
    """A service that was named, and isn't started by trifuse, can't be used."""


class ServiceDied(LocalServiceError):
    """A service ended, or didn't answer in time, while it was being started."""
