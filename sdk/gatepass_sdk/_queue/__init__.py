"""The parts of a `ScanQueue`: its file, its sender, and its verdicts."""
