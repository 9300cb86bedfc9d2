"""Stand-ins for Apple's authority, its push service and a phone, for tests of passes."""
