"""Channels: rows that an application sends into Delta tables, with offset tokens, each row once. No dbt import."""
