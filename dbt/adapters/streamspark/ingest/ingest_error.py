"""The one error that ingest raises, with a code for programs."""

from __future__ import annotations

from http import HTTPStatus

from dbt.adapters.streamspark.errors import StreamsparkError

CODES = {
    "InvalidArgument": HTTPStatus.BAD_REQUEST,
    "InvalidRow": HTTPStatus.BAD_REQUEST,
    "TableNotFound": HTTPStatus.NOT_FOUND,
    "UnsupportedTable": HTTPStatus.BAD_REQUEST,
    "NoPermission": HTTPStatus.FORBIDDEN,
    "ChannelNotFound": HTTPStatus.NOT_FOUND,
    "ClosedChannelError": HTTPStatus.CONFLICT,
    "ClosedClientError": HTTPStatus.CONFLICT,
    "InvalidChannelError": HTTPStatus.CONFLICT,
    "ReceiverSaturated": HTTPStatus.TOO_MANY_REQUESTS,
    "MemoryThresholdExceeded": HTTPStatus.TOO_MANY_REQUESTS,
    "ChannelWaitForFlushTimeout": HTTPStatus.REQUEST_TIMEOUT,
    "WriterFailed": HTTPStatus.INTERNAL_SERVER_ERROR,
}


class StreamingIngestError(StreamsparkError):
    """`error_code` is one of CODES; `http_status_code` and `http_status_name` are what a server would answer.

    >>> error = StreamingIngestError("InvalidArgument", "no")
    >>> error.error_code, error.http_status_code, error.http_status_name, str(error)
    ('InvalidArgument', 400, 'BAD_REQUEST', 'no')
    """

    def __init__(self, error_code: str, message: str):
        super().__init__(message)
        self.error_code = error_code
        self.message = message
        self.http_status_code = CODES[error_code].value
        self.http_status_name = CODES[error_code].name
