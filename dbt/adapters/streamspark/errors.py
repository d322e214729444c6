"""Errors that a user sees. Each names what was found and what to do about it."""


class StreamsparkError(Exception):
    """Base of every error this package raises on purpose. No dbt import: `impl` maps it to dbt's."""


class LaunchError(StreamsparkError):
    """Spark cannot be started; the message says what to install or to change."""


class InvalidStreamConfig(StreamsparkError):
    """A stream's configuration is unknown, contradictory or out of range."""


class UnsupportedQuery(StreamsparkError):
    """The query holds an operator that has no rule; the message names it."""


class InvalidQuery(StreamsparkError):
    """Text that is no query, or one that Spark does not accept: a table that is not there, an ambiguous column."""


class InvalidInterval(StreamsparkError):
    """An interval that ends before it starts, or names a version that does not exist."""


class StaleSource(StreamsparkError):
    """The base table no longer holds what the interval needs (log or files cleaned away)."""


class BrokenSource(StreamsparkError):
    """The base table is gone, replaced by another of the same name, lost its row tracking, or may not be read."""


class MissingSource(BrokenSource):
    """There is no such Delta table. Of all that a BrokenSource can be, only this may be taken for "gone"."""


class OffsetUnknown(StreamsparkError):
    """A target says that it consumed something, but its log no longer says up to where."""


class ConsumptionRefused(StreamsparkError):
    """A model asks for a consumption that cannot be one atomic commit."""


class Fenced(StreamsparkError):
    """Another run consumed first, again and again: the bounded tries are used up."""


class UnknownName(StreamsparkError):
    """An operation was asked about a stream, table or schema that is not there; the message has near names."""


class InvalidArgument(StreamsparkError):
    """An operation was given a value that it does not take; the message has those that it does."""
