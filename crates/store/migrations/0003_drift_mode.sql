-- What agents do about drift of a stack; NULL leaves it to each agent.
ALTER TABLE stacks ADD COLUMN drift_mode TEXT;

DROP VIEW assignments_wanted;
CREATE VIEW assignments_wanted AS
SELECT a.*, o.id AS object_id, o.sequence_id, o.kind, o.yaml_checksum, o.submitted_at,
    o.take_from, s.suspended_by, s.suspended_at, s.reconcile_token, s.approved_sequence,
    s.drift_mode
FROM assignments a
JOIN stacks s ON s.id = a.stack_id
LEFT JOIN deployment_objects o
    ON o.sequence_id = COALESCE(a.order_sequence_id, s.newest_sequence_id);
