"""The endpoints of the public API, one file a resource; `routers.py` lists them."""
