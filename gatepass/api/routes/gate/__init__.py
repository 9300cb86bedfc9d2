"""What gates need beside a scan: uploading a journal, and the incidents that come of it."""
