//! Who may do what: every route with every role. A route without a case fails the first test.

use std::collections::BTreeSet;

use evenkeel_api::{KeyRole, NewDiff, NewKey, NewWebhook};
use evenkeel_model::EventStatus;
use http::Method;
use serde_json::{Value, json};

use crate::world::{Tenant, TestAgent, World, manifest};

/// Admin, Read-only, the Generator that owns it, another generator, the agent itSelf, another
/// agent, Nobody.
const ROLES: &str = "ARGgSsN";

/// What a case needs to be sent.
struct Case {
    route: &'static str,
    allowed: &'static str,
    body: Option<fn(&Scene) -> Value>,
}

const fn case(route: &'static str, allowed: &'static str) -> Case {
    Case {
        route,
        allowed,
        body: None,
    }
}

const fn sends(route: &'static str, allowed: &'static str, body: fn(&Scene) -> Value) -> Case {
    Case {
        route,
        allowed,
        body: Some(body),
    }
}

const CASES: &[Case] = &[
    case("GET /healthz", "ARGgSsN"),
    case("GET /readyz", "ARGgSsN"),
    case("GET /metrics", "ARGgSsN"),
    case("POST /api/v1/auth/pak", "ARGgSs"),
    case("GET /api/v1/paks", "AR"),
    case("GET /api/v1/keys", "AR"),
    sends("POST /api/v1/keys", "A", |_| json!({ "role": "readonly" })),
    case("DELETE /api/v1/keys/{key_id}", "A"),
    case("GET /api/v1/generators", "AR"),
    sends("POST /api/v1/generators", "A", |_| json!({ "name": "new" })),
    case("GET /api/v1/generators/{generator_id}", "ARG"),
    sends(
        "PUT /api/v1/generators/{generator_id}",
        "AG",
        |_| json!({ "description": "x" }),
    ),
    case("DELETE /api/v1/generators/{generator_id}", "AG"),
    case("POST /api/v1/generators/{generator_id}/rotate-pak", "AG"),
    sends(
        "POST /api/v1/generators/{generator_id}/register",
        "AS",
        Scene::agent_named,
    ),
    sends(
        "DELETE /api/v1/generators/{generator_id}/register",
        "AS",
        Scene::agent_named,
    ),
    case(
        "GET /api/v1/generators/{generator_id}/registered-agents",
        "ARG",
    ),
    case("GET /api/v1/agents", "ARGg"),
    sends(
        "POST /api/v1/agents",
        "A",
        |_| json!({ "name": "new", "cluster_name": "new" }),
    ),
    case("GET /api/v1/agents/", "ARS"),
    case("GET /api/v1/agents/{agent_id}", "ARS"),
    sends(
        "PUT /api/v1/agents/{agent_id}",
        "AS",
        |_| json!({ "name": "agent" }),
    ),
    case("DELETE /api/v1/agents/{agent_id}", "A"),
    case("POST /api/v1/agents/{agent_id}/rotate-pak", "AS"),
    case("POST /api/v1/agents/{agent_id}/heartbeat", "S"),
    case("GET /api/v1/agents/{agent_id}/registrations", "ARS"),
    case("GET /api/v1/agents/{agent_id}/stacks", "ARS"),
    case("GET /api/v1/agents/{agent_id}/events", "ARS"),
    sends("POST /api/v1/agents/{agent_id}/events", "AS", |scene| {
        let object = &scene.ids.object;
        json!({ "deployment_object_id": object, "event_type": "DEPLOY", "status": "SUCCESS" })
    }),
    case("GET /api/v1/agents/{agent_id}/labels", "ARS"),
    sends(
        "POST /api/v1/agents/{agent_id}/labels",
        "A",
        |_| json!({ "label": "new" }),
    ),
    case("DELETE /api/v1/agents/{agent_id}/labels/{label}", "A"),
    case("GET /api/v1/agents/{agent_id}/annotations", "ARS"),
    sends(
        "POST /api/v1/agents/{agent_id}/annotations",
        "A",
        |_| json!({ "key": "k", "value": "v" }),
    ),
    case("DELETE /api/v1/agents/{agent_id}/annotations/{key}", "A"),
    case("GET /api/v1/agents/{agent_id}/targets", "ARS"),
    sends(
        "POST /api/v1/agents/{agent_id}/targets",
        "AG",
        |scene| json!({ "stack_id": scene.ids.stack }),
    ),
    case("DELETE /api/v1/agents/{agent_id}/targets/{stack_id}", "AG"),
    case("GET /api/v1/agents/{agent_id}/target-state", "ARS"),
    case("GET /api/v1/agents/{agent_id}/manifests/{checksum}", "ARS"),
    sends(
        "PATCH /api/v1/agents/{agent_id}/health-status",
        "AS",
        |_| json!({ "deployment_objects": [] }),
    ),
    case("GET /api/v1/agents/{agent_id}/fleet-status", "AR"),
    case("GET /api/v1/agents/{agent_id}/status", "ARS"),
    case("GET /api/v1/agents/{agent_id}/diffs", "ARS"),
    sends(
        "POST /api/v1/agents/{agent_id}/diffs/{diff_id}",
        "S",
        |_| json!({ "objects": [] }),
    ),
    case("GET /api/v1/agents/{agent_id}/webhooks/pending", "ARS"),
    case("GET /api/v1/stacks", "ARGg"),
    sends(
        "POST /api/v1/stacks",
        "AG",
        |scene| json!({ "name": "new", "generator_id": scene.ids.generator }),
    ),
    case("GET /api/v1/stacks/{stack_id}", "ARG"),
    sends(
        "PUT /api/v1/stacks/{stack_id}",
        "AG",
        |_| json!({ "description": "x" }),
    ),
    case("DELETE /api/v1/stacks/{stack_id}", "AG"),
    case("GET /api/v1/stacks/{stack_id}/status", "ARG"),
    case("GET /api/v1/stacks/{stack_id}/health", "ARG"),
    case("POST /api/v1/stacks/{stack_id}/suspend", "AG"),
    case("POST /api/v1/stacks/{stack_id}/resume", "AG"),
    case("POST /api/v1/stacks/{stack_id}/reconcile", "AG"),
    case("POST /api/v1/stacks/{stack_id}/approve", "AG"),
    sends(
        "PUT /api/v1/stacks/{stack_id}/drift-mode",
        "AG",
        |_| json!({ "mode": "warn" }),
    ),
    sends(
        "POST /api/v1/stacks/{stack_id}/diffs",
        "AG",
        |_| json!({ "yaml_content": manifest("new") }),
    ),
    case("GET /api/v1/stacks/{stack_id}/diffs/{diff_id}", "ARG"),
    case("GET /api/v1/stacks/{stack_id}/deployment-objects", "ARG"),
    sends(
        "POST /api/v1/stacks/{stack_id}/deployment-objects",
        "AG",
        |_| json!({ "yaml_content": manifest("new") }),
    ),
    case(
        "GET /api/v1/stacks/{stack_id}/deployment-objects/latest",
        "ARG",
    ),
    case("GET /api/v1/stacks/{stack_id}/labels", "ARGS"),
    sends("POST /api/v1/stacks/{stack_id}/labels", "AG", |_| {
        json!("new")
    }),
    case("DELETE /api/v1/stacks/{stack_id}/labels/{label}", "AG"),
    case("GET /api/v1/stacks/{stack_id}/annotations", "ARGS"),
    sends(
        "POST /api/v1/stacks/{stack_id}/annotations",
        "AG",
        |_| json!({ "key": "k", "value": "v" }),
    ),
    case("DELETE /api/v1/stacks/{stack_id}/annotations/{key}", "AG"),
    case("GET /api/v1/deployment-objects/{object_id}", "ARGS"),
    case("GET /api/v1/deployment-objects/{object_id}/health", "AR"),
    case("GET /api/v1/agent-events", "AR"),
    case("GET /api/v1/agent-events/{event_id}", "AR"),
    case("GET /api/v1/fleet", "AR"),
    // A generator may ask for a stack of its own: see control.rs.
    case("GET /api/v1/drift", "ARSs"),
    case("GET /api/v1/webhooks", "AR"),
    sends(
        "POST /api/v1/webhooks",
        "A",
        |_| json!({ "name": "new", "url": "http://127.0.0.1:9/", "event_types": ["*"] }),
    ),
    case("GET /api/v1/webhooks/event-types", "AR"),
    case("GET /api/v1/webhooks/{webhook_id}", "AR"),
    sends(
        "PUT /api/v1/webhooks/{webhook_id}",
        "A",
        |_| json!({ "enabled": false }),
    ),
    case("DELETE /api/v1/webhooks/{webhook_id}", "A"),
    case("POST /api/v1/webhooks/{webhook_id}/test", "A"),
    case("GET /api/v1/webhooks/{webhook_id}/deliveries", "AR"),
    case("POST /api/v1/webhook-deliveries/{delivery_id}/replay", "A"),
    case("GET /api/v1/admin/audit-logs", "AR"),
    case("GET /api/v1/admin/tasks", "AR"),
];

/// The ids that paths name, as texts.
struct Ids {
    key: String,
    generator: String,
    agent: String,
    stack: String,
    object: String,
    checksum: String,
    event: String,
    webhook: String,
    delivery: String,
    diff: String,
}

/// One of everything, and a key for every role.
struct Scene {
    world: World,
    owner: Tenant,
    other: Tenant,
    agent: TestAgent,
    stranger: TestAgent,
    reader: String,
    ids: Ids,
    http: reqwest::Client,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let (owner, other) = (world.tenant("owner").await, world.tenant("other").await);
        let agent = world.agent("agent", &[&owner]).await;
        let stranger = world.agent("stranger", &[&owner]).await;
        let reader = NewKey {
            role: KeyRole::Readonly,
            description: None,
            expires_at: None,
        };
        let reader = world.admin.key_create(&reader).await.unwrap();
        let ids = Self::furnish(&world, &owner, &agent).await;
        let ids = Ids {
            key: world.spare_key().await,
            ..ids
        };
        Self {
            world,
            owner,
            other,
            agent,
            stranger,
            reader: reader.pak,
            ids,
            http: reqwest::Client::new(),
        }
    }

    async fn furnish(world: &World, owner: &Tenant, agent: &TestAgent) -> Ids {
        let stack = owner.stack("stack").await;
        world.admin.target_create(agent.id, stack.id).await.unwrap();
        let object = owner.submit(stack.id, "one").await;
        agent.reports(object.id, EventStatus::Success).await;
        let events = agent
            .client
            .agent_events(agent.id, &Default::default())
            .await
            .unwrap();
        let tag = "here".parse().unwrap();
        world.admin.agent_label_add(agent.id, &tag).await.unwrap();
        world.admin.stack_label_add(stack.id, &tag).await.unwrap();
        let hook: NewWebhook = serde_json::from_value(
            json!({ "name": "hook", "url": "http://127.0.0.1:9/", "event_types": ["workorder.*"] }),
        )
        .unwrap();
        let webhook = world.admin.webhook_create(&hook).await.unwrap().webhook;
        let delivery = world.admin.webhook_test(webhook.id).await.unwrap();
        let diff = NewDiff {
            yaml_content: manifest("two"),
        };
        let diff = owner.client.diff_create(stack.id, &diff).await.unwrap();
        Ids {
            key: String::new(),
            generator: owner.id.to_string(),
            agent: agent.id.to_string(),
            stack: stack.id.to_string(),
            object: object.id.to_string(),
            checksum: object.yaml_checksum.to_string(),
            event: events.items[0].id.to_string(),
            webhook: webhook.id.to_string(),
            delivery: delivery.id.to_string(),
            diff: diff.id.to_string(),
        }
    }

    fn agent_named(&self) -> Value {
        json!({ "agent_id": self.ids.agent })
    }

    fn key(&self, role: char) -> Option<&str> {
        match role {
            'A' => Some(&self.world.broker.first_key().unwrap().key),
            'R' => Some(&self.reader),
            'G' => Some(&self.owner.key),
            'g' => Some(&self.other.key),
            'S' => Some(&self.agent.key),
            's' => Some(&self.stranger.key),
            _ => None,
        }
    }

    fn path(&self, path: &str) -> String {
        let ids = &self.ids;
        let path = [
            ("{key_id}", &ids.key),
            ("{generator_id}", &ids.generator),
            ("{agent_id}", &ids.agent),
            ("{stack_id}", &ids.stack),
            ("{object_id}", &ids.object),
            ("{event_id}", &ids.event),
            ("{webhook_id}", &ids.webhook),
            ("{delivery_id}", &ids.delivery),
            ("{diff_id}", &ids.diff),
            ("{checksum}", &ids.checksum),
            ("{label}", &"here".to_owned()),
            ("{key}", &"none".to_owned()),
        ]
        .iter()
        .fold(path.to_owned(), |path, (name, id)| path.replace(name, id));
        match path.as_str() {
            "/api/v1/agents/" => path + "?name=agent&cluster_name=agent-cluster",
            _ => path,
        }
    }

    async fn ask(&self, case: &Case, role: char) -> u16 {
        let (method, path) = case.route.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let url = format!("{}{}", self.world.address, self.path(path));
        let mut request = self.http.request(method, url);
        if let Some(key) = self.key(role) {
            request = request.bearer_auth(key);
        }
        if let Some(body) = case.body {
            request = request.json(&body(self));
        }
        request.send().await.unwrap().status().as_u16()
    }
}

impl World {
    async fn spare_key(&self) -> String {
        let new = NewKey {
            role: KeyRole::Readonly,
            description: None,
            expires_at: None,
        };
        self.admin
            .key_create(&new)
            .await
            .unwrap()
            .key
            .id
            .to_string()
    }
}

/// A route without its parameters' names, which differ between the document and the cases.
fn shape(route: &str) -> String {
    let part = |part: &str| {
        if part.starts_with('{') {
            "{}".to_owned()
        } else {
            part.to_owned()
        }
    };
    route.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[test]
fn every_route_has_a_case_and_every_case_a_route() {
    let document = serde_json::to_value(evenkeel_broker::openapi()).unwrap();
    let mut routes = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            routes.insert(shape(&format!("{} {path}", method.to_uppercase())));
        }
    }
    let cases: BTreeSet<_> = CASES.iter().map(|case| shape(case.route)).collect();
    assert_eq!(cases, routes);
    assert_eq!(cases.len(), CASES.len(), "a case is there twice");
}

/// Whoever may not, is told so and changes nothing; one scene serves all refusals.
#[tokio::test]
async fn whoever_may_not_is_refused() {
    let scene = Scene::new().await;
    for case in CASES {
        for role in ROLES.chars().filter(|role| !case.allowed.contains(*role)) {
            let expected = if role == 'N' { 401 } else { 403 };
            assert_eq!(
                scene.ask(case, role).await,
                expected,
                "{} by {role}",
                case.route
            );
        }
    }
}

/// Whoever may, is not refused. What destroys gets a scene of its own.
#[tokio::test]
async fn whoever_may_is_let_through() {
    let shared = Scene::new().await;
    for case in CASES {
        let destroys = case.route.starts_with("DELETE") || case.route.ends_with("rotate-pak");
        for role in case.allowed.chars() {
            let status = if destroys {
                Scene::new().await.ask(case, role).await
            } else {
                shared.ask(case, role).await
            };
            // That something is there already, or is not there, is no matter of permission.
            let fine = (200..300).contains(&status) || matches!(status, 404 | 409);
            assert!(fine, "{} by {role}: {status}", case.route);
        }
    }
}
