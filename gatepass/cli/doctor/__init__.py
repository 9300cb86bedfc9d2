"""Parts of `gatepass doctor`: a finding, and the checks of a cluster."""
