"""What the pages of the studio and the card pages share: files that browsers keep, and the middleware."""
