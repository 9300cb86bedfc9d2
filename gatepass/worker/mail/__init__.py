"""Sending letters: connections to the mail server, the pace of each recipient domain, and mailings."""
