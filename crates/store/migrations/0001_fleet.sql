-- One text for SQLite and PostgreSQL. Times are microseconds since the epoch; `position` orders
-- rows by the moment their creation was committed. Unique indexes are named
-- table_column_column_key, which is also how their violations are named on SQLite.

-- The one row that every write locks first: see src/writer.rs.
CREATE TABLE ledger (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    change_number BIGINT NOT NULL,
    sequence_id BIGINT NOT NULL,
    position BIGINT NOT NULL
);
INSERT INTO ledger (id, change_number, sequence_id, position) VALUES (1, 0, 0, 0);

CREATE TABLE changes (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    noun TEXT NOT NULL,
    id UUID NOT NULL,
    other_id UUID
);
CREATE INDEX changes_at ON changes (at);

CREATE TABLE generators (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    name TEXT NOT NULL,
    description TEXT,
    last_active_at BIGINT,
    is_active BOOLEAN NOT NULL,
    is_system BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX generators_name_key ON generators (name) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX generators_position_key ON generators (position);

CREATE TABLE agents (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    name TEXT NOT NULL,
    cluster_name TEXT NOT NULL,
    status TEXT NOT NULL,
    last_heartbeat BIGINT,
    k8s_reachable BOOLEAN,
    k8s_api_latency_ms BIGINT,
    k8s_reported_at BIGINT
);
CREATE UNIQUE INDEX agents_name_cluster_name_key ON agents (name, cluster_name)
    WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_position_key ON agents (position);

CREATE TABLE registrations (
    id UUID PRIMARY KEY,
    agent_id UUID NOT NULL REFERENCES agents (id),
    generator_id UUID NOT NULL REFERENCES generators (id),
    registered_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX registrations_agent_id_generator_id_key
    ON registrations (agent_id, generator_id);
CREATE INDEX registrations_generator_id ON registrations (generator_id);

CREATE TABLE stacks (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    name TEXT NOT NULL,
    description TEXT,
    generator_id UUID NOT NULL REFERENCES generators (id),
    newest_sequence_id BIGINT
);
CREATE UNIQUE INDEX stacks_generator_id_name_key ON stacks (generator_id, name)
    WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX stacks_position_key ON stacks (position);

CREATE TABLE agent_labels (
    owner_id UUID NOT NULL REFERENCES agents (id),
    label TEXT NOT NULL
);
CREATE UNIQUE INDEX agent_labels_owner_id_label_key ON agent_labels (owner_id, label);
CREATE INDEX agent_labels_label ON agent_labels (label);

CREATE TABLE agent_annotations (
    owner_id UUID NOT NULL REFERENCES agents (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL
);
CREATE UNIQUE INDEX agent_annotations_owner_id_key_key ON agent_annotations (owner_id, key);
CREATE INDEX agent_annotations_key_value ON agent_annotations (key, value);

CREATE TABLE stack_labels (
    owner_id UUID NOT NULL REFERENCES stacks (id),
    label TEXT NOT NULL
);
CREATE UNIQUE INDEX stack_labels_owner_id_label_key ON stack_labels (owner_id, label);
CREATE INDEX stack_labels_label ON stack_labels (label);

CREATE TABLE stack_annotations (
    owner_id UUID NOT NULL REFERENCES stacks (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL
);
CREATE UNIQUE INDEX stack_annotations_owner_id_key_key ON stack_annotations (owner_id, key);
CREATE INDEX stack_annotations_key_value ON stack_annotations (key, value);

CREATE TABLE targets (
    id UUID PRIMARY KEY,
    agent_id UUID NOT NULL REFERENCES agents (id),
    stack_id UUID NOT NULL REFERENCES stacks (id),
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX targets_agent_id_stack_id_key ON targets (agent_id, stack_id);
CREATE INDEX targets_stack_id ON targets (stack_id);

-- Texts are kept once, however often they are submitted.
CREATE TABLE manifests (
    checksum TEXT PRIMARY KEY,
    content BYTEA NOT NULL
);

CREATE TABLE deployment_objects (
    sequence_id BIGINT PRIMARY KEY,
    id UUID NOT NULL,
    stack_id UUID NOT NULL REFERENCES stacks (id),
    kind TEXT NOT NULL,
    yaml_checksum TEXT NOT NULL REFERENCES manifests (checksum),
    submitted_at BIGINT NOT NULL,
    idempotency_key TEXT
);
CREATE UNIQUE INDEX deployment_objects_id_key ON deployment_objects (id);
CREATE INDEX deployment_objects_stack_id_sequence_id
    ON deployment_objects (stack_id, sequence_id);
CREATE UNIQUE INDEX deployment_objects_stack_id_idempotency_key_key
    ON deployment_objects (stack_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- Who is meant to hold what, now: only generators that the agent agreed to, and of theirs the
-- stacks that are targeted explicitly or share a label or an annotation.
CREATE VIEW membership AS
SELECT r.agent_id AS agent_id, s.id AS stack_id
FROM registrations r
JOIN stacks s ON s.generator_id = r.generator_id AND s.deleted_at IS NULL
WHERE EXISTS (
        SELECT 1 FROM targets t WHERE t.agent_id = r.agent_id AND t.stack_id = s.id)
    OR EXISTS (
        SELECT 1 FROM agent_labels al JOIN stack_labels sl ON sl.label = al.label
        WHERE al.owner_id = r.agent_id AND sl.owner_id = s.id)
    OR EXISTS (
        SELECT 1 FROM agent_annotations aa
        JOIN stack_annotations sa ON sa.key = aa.key AND sa.value = aa.value
        WHERE aa.owner_id = r.agent_id AND sa.owner_id = s.id);

-- Who holds or may hold what. A row goes only when the agent confirmed that the stack is gone.
CREATE TABLE assignments (
    agent_id UUID NOT NULL REFERENCES agents (id),
    stack_id UUID NOT NULL REFERENCES stacks (id),
    order_kind TEXT NOT NULL,
    order_sequence_id BIGINT REFERENCES deployment_objects (sequence_id),
    ordered_at BIGINT NOT NULL,
    applied BIGINT,
    attempted BIGINT,
    attempts BIGINT NOT NULL,
    last_error TEXT,
    reported_at BIGINT,
    health TEXT,
    drift TEXT,
    PRIMARY KEY (agent_id, stack_id),
    CHECK ((order_kind = 'serve') = (order_sequence_id IS NULL))
);
CREATE INDEX assignments_stack_id ON assignments (stack_id);

CREATE VIEW assignments_wanted AS
SELECT a.*, o.id AS object_id, o.sequence_id, o.kind, o.yaml_checksum, o.submitted_at
FROM assignments a
JOIN stacks s ON s.id = a.stack_id
LEFT JOIN deployment_objects o
    ON o.sequence_id = COALESCE(a.order_sequence_id, s.newest_sequence_id);

CREATE TABLE agent_events (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    agent_id UUID NOT NULL REFERENCES agents (id),
    deployment_object_id UUID NOT NULL REFERENCES deployment_objects (id),
    stack_id UUID NOT NULL REFERENCES stacks (id),
    event_type TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT
);
CREATE UNIQUE INDEX agent_events_position_key ON agent_events (position);
CREATE INDEX agent_events_agent_id_position ON agent_events (agent_id, position);
CREATE INDEX agent_events_stack_id_position ON agent_events (stack_id, position);
CREATE INDEX agent_events_deployment_object_id ON agent_events (deployment_object_id);
CREATE INDEX agent_events_created_at ON agent_events (created_at);

CREATE TABLE deployment_health (
    agent_id UUID NOT NULL REFERENCES agents (id),
    deployment_object_id UUID NOT NULL REFERENCES deployment_objects (id),
    status TEXT NOT NULL,
    summary TEXT,
    checked_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, deployment_object_id)
);
CREATE INDEX deployment_health_deployment_object_id
    ON deployment_health (deployment_object_id);

CREATE TABLE api_keys (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    role TEXT NOT NULL,
    owner_id UUID,
    hash TEXT NOT NULL,
    short_token TEXT NOT NULL,
    description TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX api_keys_hash_key ON api_keys (hash);
CREATE INDEX api_keys_owner_id ON api_keys (owner_id);

CREATE TABLE webhooks (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    name TEXT NOT NULL,
    sealed_url BYTEA NOT NULL,
    sealed_auth_header BYTEA,
    sealed_secret BYTEA,
    event_types TEXT NOT NULL,
    filter TEXT NOT NULL,
    target_labels TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    max_retries BIGINT NOT NULL,
    timeout_seconds BIGINT NOT NULL
);
CREATE UNIQUE INDEX webhooks_position_key ON webhooks (position);

CREATE TABLE webhook_deliveries (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    webhook_id UUID NOT NULL REFERENCES webhooks (id),
    event_type TEXT NOT NULL,
    event_id UUID NOT NULL,
    payload TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    leased_by TEXT,
    leased_until BIGINT,
    status_code BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    completed_at BIGINT
);
CREATE UNIQUE INDEX webhook_deliveries_webhook_id_position_key
    ON webhook_deliveries (webhook_id, position);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, position)
    WHERE status = 'pending';
CREATE INDEX webhook_deliveries_completed_at ON webhook_deliveries (completed_at);

CREATE TABLE audit_log (
    id UUID PRIMARY KEY,
    position BIGINT NOT NULL,
    timestamp BIGINT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id UUID,
    ip_address TEXT,
    user_agent TEXT,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id UUID,
    details TEXT
);
CREATE UNIQUE INDEX audit_log_position_key ON audit_log (position);
CREATE INDEX audit_log_timestamp ON audit_log (timestamp);
CREATE INDEX audit_log_resource_id ON audit_log (resource_id);

CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    term BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
