"""Copies of an organization: the same ids in another one, made by PostgreSQL, because pairs need thousands of them."""

from dataclasses import replace
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import twin
from tests.domain.locks.world import World

# What was told and written down about the original is not the copy's.
LEFT_OUT: Final = (
    "webhook_event", "webhook_delivery", "webhook_queue", "webhook_feed", "audit_log", "request_log", "notice",
)  # fmt: skip


async def copy(tx: Tx, world: World) -> World:
    """An organization of its own with everything in it. Its rows refer to each other as the originals do."""
    was, becomes = twin.owner_of(world.id), new_id()
    await tx.run("SET LOCAL session_replication_role = replica")
    await _copy(tx, was, becomes, None)
    made = becomes
    if twin.is_twin(world.id):
        made = twin.twin_id(becomes)
        await _copy(tx, world.id, made, becomes)
    tenant = replace(world.tenant, organization=replace(world.tenant.organization, id=made))
    return replace(world, tenant=tenant, ids=dict(world.ids), numbers=dict(world.numbers))


async def _copy(tx: Tx, was: UUID, becomes: UUID, twin_of: UUID | None) -> None:
    await tx.run(COPY_ORGANIZATION, was, becomes, twin_of)
    await tx.run("SELECT copy_rows($1, $2, $3)", was, becomes, list(LEFT_OUT))


COPY_ORGANIZATION: Final = """
    INSERT INTO organization
    SELECT (jsonb_populate_record(NULL::organization, to_jsonb(x)
                                  || jsonb_build_object('id', $2::uuid, 'twin_of', $3::uuid))).*
      FROM organization x
     WHERE id = $1
"""

# Made once in the database of these tests, so that a copy is one round trip.
COPY_ROWS: Final = """
CREATE FUNCTION copy_rows(p_was uuid, p_becomes uuid, p_left_out text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT c.relname
                  FROM pg_class c
                  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id' AND NOT a.attisdropped
                 WHERE c.relnamespace = 'public'::regnamespace
                   AND c.relkind IN ('r', 'p')
                   AND NOT c.relispartition
                   AND c.relname <> ALL (p_left_out)
    LOOP
        EXECUTE format($copy$
            INSERT INTO %1$s
            SELECT (jsonb_populate_record(NULL::%1$s, to_jsonb(x) || jsonb_build_object('organization_id', $2))).*
              FROM %1$s x
             WHERE organization_id = $1 $copy$, name) USING p_was, p_becomes;
    END LOOP;
END
$$
"""
