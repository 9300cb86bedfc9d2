"""Migrations: Alembic runs them, SQL says what they do, and they only go forward."""
