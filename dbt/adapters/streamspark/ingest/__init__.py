"""Channels: rows sent in by an application, with offset tokens. They come with the ingest client; empty until then."""
