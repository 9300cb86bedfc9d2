"""Tracing: OpenTelemetry spans, made by hand and sent as OTLP/JSON. Without GATEPASS_TRACES_URL nothing of it runs.

Each traced thing has a subclass or a wrapper here or beside it, which takes its place when tracing is on.
"""
