"""Notices by mail: what the studio tells people when they come, told to those who do not come.

A worker writes these letters, in batches. Only proven addresses get any: an unproven one may be a stranger's.
"""
