"""Alembic's entry: the connection comes from the caller, or, for `--sql`, none is needed."""

from alembic import context

if context.is_offline_mode():
    # With this style of parameters SQLAlchemy does not double the percent signs, which format() needs as they are.
    context.configure(dialect_name="postgresql", literal_binds=True, dialect_opts={"paramstyle": "named"})
    with context.begin_transaction():
        context.run_migrations()
else:
    context.configure(connection=context.config.attributes["connection"], transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()
