-- Lists: keys by age, changes by actor.
--
-- Nobody uses these tables yet, so:
-- squawk-ignore-file require-concurrent-index-creation

-- None of its columns is written when a key is used, so that this stays a HOT update.
CREATE INDEX api_key_list ON api_key (organization_id, mode, created_at, id);

CREATE INDEX change_of_actor ON change (organization_id, actor, at, id);
