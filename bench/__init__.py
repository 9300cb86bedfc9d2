"""What is measured, against what, in one command each. See README.md."""
