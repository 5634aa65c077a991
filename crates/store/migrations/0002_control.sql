-- What people ask for of a stack beyond its revisions.
ALTER TABLE stacks ADD COLUMN suspended_by TEXT;
ALTER TABLE stacks ADD COLUMN suspended_at BIGINT;
ALTER TABLE stacks ADD COLUMN reconcile_token BIGINT NOT NULL DEFAULT 0;
ALTER TABLE stacks ADD COLUMN approved_sequence BIGINT;

-- What agents say of themselves.
ALTER TABLE agents ADD COLUMN agent_version TEXT;
ALTER TABLE agents ADD COLUMN kubernetes_version TEXT;

ALTER TABLE deployment_objects ADD COLUMN take_from TEXT NOT NULL DEFAULT '[]';

ALTER TABLE assignments ADD COLUMN waiting TEXT;
-- The place of the last question that the agent was asked about the stack.
ALTER TABLE assignments ADD COLUMN asked BIGINT NOT NULL DEFAULT 0;

ALTER TABLE agent_events ADD COLUMN attempted_at BIGINT;
ALTER TABLE agent_events ADD COLUMN changes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE agent_events ADD COLUMN change_counts TEXT NOT NULL DEFAULT '{}';

ALTER TABLE deployment_health ADD COLUMN objects TEXT NOT NULL DEFAULT '[]';

DROP VIEW assignments_wanted;
CREATE VIEW assignments_wanted AS
SELECT a.*, o.id AS object_id, o.sequence_id, o.kind, o.yaml_checksum, o.submitted_at,
    o.take_from, s.suspended_by, s.suspended_at, s.reconcile_token, s.approved_sequence
FROM assignments a
JOIN stacks s ON s.id = a.stack_id
LEFT JOIN deployment_objects o
    ON o.sequence_id = COALESCE(a.order_sequence_id, s.newest_sequence_id);

-- What others changed in the clusters; the last findings of each agent in each stack. The same
-- finding told twice is one.
CREATE TABLE drift_records (
    agent_id UUID NOT NULL REFERENCES agents (id),
    stack_id UUID NOT NULL REFERENCES stacks (id),
    object TEXT NOT NULL,
    at BIGINT NOT NULL,
    position BIGINT NOT NULL,
    fields TEXT NOT NULL,
    manager TEXT,
    mode TEXT NOT NULL,
    repaired BOOLEAN NOT NULL,
    PRIMARY KEY (agent_id, stack_id, object, at)
);
CREATE UNIQUE INDEX drift_records_position_key ON drift_records (position);
CREATE INDEX drift_records_agent_id_stack_id_position
    ON drift_records (agent_id, stack_id, position);
CREATE INDEX drift_records_stack_id_position ON drift_records (stack_id, position);

-- Questions to the live clusters. They are short-lived, and so are their answers.
CREATE TABLE diffs (
    id UUID PRIMARY KEY,
    stack_id UUID NOT NULL REFERENCES stacks (id),
    requested_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    yaml_content BYTEA NOT NULL
);
CREATE INDEX diffs_expires_at ON diffs (expires_at);
CREATE INDEX diffs_stack_id ON diffs (stack_id);

CREATE TABLE diff_answers (
    diff_id UUID NOT NULL REFERENCES diffs (id) ON DELETE CASCADE,
    agent_id UUID NOT NULL REFERENCES agents (id),
    answered_at BIGINT,
    answer TEXT,
    PRIMARY KEY (diff_id, agent_id)
);
CREATE INDEX diff_answers_agent_id ON diff_answers (agent_id);
