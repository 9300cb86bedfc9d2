"""What a gate keeps in its directory: sealed settings, the manifest, and the journal of its scans."""
