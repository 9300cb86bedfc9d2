"""The lifecycle of an organization, as its operator decides: suspended, resumed, closed, exported, erased."""
