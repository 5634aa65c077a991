//! Control of stacks, drift, and questions to the live clusters, as agents and people see them.

use std::time::Duration;

use evenkeel_api::{
    AssignmentStatus, DiffAnswer, DriftQuery, DriftRecord, HealthReport, ListQuery, NewDeployment,
    NewDiff, NewEvent, ObjectChange, ObjectHealth, ObjectKey, ReportedHealth,
};
use evenkeel_client::{ClientError, Poll, Submit, TargetState};
use evenkeel_model::{
    Action, AgentStatus, DriftMode, EventId, EventStatus, HealthStatus, ObjectAction,
    ReconcileToken,
};

use crate::world::{Scene, manifest};

const LONG: Duration = Duration::from_secs(30);

fn key(name: &str) -> ObjectKey {
    ObjectKey {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: Some("default".to_owned()),
        name: name.to_owned(),
    }
}

impl Scene {
    /// What a waiting poll is answered when this happens meanwhile.
    async fn wakes_on(&self, change: impl Future<Output = ()>) -> TargetState {
        let version = self.agent.target_state().await.version;
        let (answer, ()) = tokio::join!(self.agent.poll(&version, Some(LONG)), async {
            self.until_waiting().await;
            change.await;
        });
        answer.expect("the poll wakes before its time")
    }

    async fn report(&self, report: ReportedHealth) {
        let report = HealthReport {
            deployment_objects: vec![report],
        };
        let client = &self.agent.client;
        client.health_report(self.agent.id, &report).await.unwrap();
    }

    async fn status(&self) -> AssignmentStatus {
        let all = self.shop.client.stack_status(self.stack.id).await.unwrap();
        all.into_iter().next().unwrap()
    }
}

#[tokio::test]
async fn a_change_of_control_wakes_those_who_wait() {
    let it = Scene::new().await;
    it.submit("one").await;
    let (client, id) = (&it.shop.client, it.stack.id);
    let suspended = it.wakes_on(async {
        client.stack_suspend(id).await.unwrap();
    });
    let suspended = suspended.await.objects.remove(0).control;
    assert!(suspended.suspended);
    let resumed = it.wakes_on(async {
        let stack = client.stack_resume(id).await.unwrap();
        assert_eq!(stack.control, Default::default());
    });
    assert!(resumed.await.objects.remove(0).control.is_default());
    let asked = it.wakes_on(async {
        client.stack_reconcile(id).await.unwrap();
    });
    let token = asked.await.objects.remove(0).control.reconcile_token;
    assert_eq!(token, ReconcileToken(1));
}

/// Existing clients see no difference where nothing is asked for.
#[tokio::test]
async fn control_is_absent_where_nothing_is_asked_for() {
    let it = Scene::new().await;
    it.submit("one").await;
    let url = format!(
        "{}/api/v1/agents/{}/target-state",
        it.world.address, it.agent.id
    );
    let request = reqwest::Client::new().get(url).bearer_auth(&it.agent.key);
    let body: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    let object = body[0].as_object().unwrap();
    assert!(
        !object.contains_key("control") && !object.contains_key("take_from"),
        "{body}"
    );
}

#[tokio::test]
async fn the_brake_is_released_for_what_waits() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    let nothing = it.shop.client.stack_approve(it.stack.id, None).await;
    let nothing = nothing.unwrap_err();
    assert_eq!(
        (nothing.status(), nothing.code()),
        (Some(409), Some("nothing_waits"))
    );
    let now = jiff::Timestamp::UNIX_EPOCH;
    let waiting = ReportedHealth {
        waiting: Some("would delete 12 of 20 objects".to_owned()),
        ..ReportedHealth::of(object.id, HealthStatus::Unknown, now)
    };
    it.report(waiting.clone()).await;
    assert_eq!(it.status().await.waiting, waiting.waiting);
    assert_eq!(it.world.admin.fleet().await.unwrap()[0].waiting, 1);
    let state = it.wakes_on(async {
        let stack = it.shop.client.stack_approve(it.stack.id, None).await;
        let approved = stack.unwrap().control.approved_sequence;
        assert_eq!(approved, Some(object.sequence_id));
    });
    assert!(state.await.objects.remove(0).control.approved);
    it.agent.reports(object.id, EventStatus::Success).await;
    assert_eq!(it.status().await.waiting, None);
    let audit = it.world.admin.audit_list(Some(Action::StackApproved), 10);
    assert_eq!(audit.await.unwrap().logs.len(), 1);
}

#[tokio::test]
async fn status_and_drift_tell_what_agents_saw() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    let now = jiff::Timestamp::UNIX_EPOCH;
    let health = ObjectHealth {
        object: key("it"),
        status: HealthStatus::Failing,
        reason: Some("gone".to_owned()),
        since: Some(now),
    };
    let drift = DriftRecord {
        object: key("it"),
        fields: vec!["data.text".to_owned()],
        manager: Some("kubectl-edit".to_owned()),
        at: now,
        mode: DriftMode::Warn,
        repaired: false,
    };
    it.report(ReportedHealth {
        objects: vec![health.clone()],
        drift_records: vec![drift.clone()],
        ..ReportedHealth::of(object.id, HealthStatus::Failing, now)
    })
    .await;
    let status = it.status().await;
    assert_eq!(
        (status.objects, status.drift_records),
        (vec![health], vec![drift.clone()])
    );
    let of_stack = DriftQuery {
        stack: Some(it.stack.id),
        ..DriftQuery::default()
    };
    let found = it.shop.client.drift_list(&of_stack).await.unwrap().items;
    assert_eq!(
        (found.len(), found[0].agent_id, &found[0].record),
        (1, it.agent.id, &drift)
    );
    let all = it.shop.client.drift_list(&DriftQuery::default()).await;
    assert_eq!(
        all.unwrap_err().status(),
        Some(403),
        "a generator names a stack"
    );
    let bank = it.world.tenant("bank").await;
    let foreign = bank.client.drift_list(&of_stack).await.unwrap_err();
    assert_eq!(foreign.status(), Some(403));
}

#[tokio::test]
async fn an_event_tells_what_was_done_to_each_object() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    let change = |name: String, action| ObjectChange {
        object: key(&name),
        action,
        reason: None,
    };
    let mut changes: Vec<_> = (0..700)
        .map(|number| change(number.to_string(), ObjectAction::Unchanged))
        .collect();
    changes.push(change("bad".to_owned(), ObjectAction::Failed));
    let event = NewEvent {
        id: Some(EventId(uuid::Uuid::from_u128(1))),
        changes,
        ..NewEvent::of(object.id, EventStatus::Failure)
    };
    let record = async || it.agent.client.event_record(it.agent.id, &event).await;
    let first = record().await.unwrap();
    assert_eq!(first.changes.len(), 500, "bounded");
    assert_eq!(first.changes[0].action, ObjectAction::Failed);
    assert_eq!(first.change_counts[&ObjectAction::Unchanged], 700);
    assert_eq!(record().await.unwrap(), first, "told twice, happened once");
    let query = ListQuery::default();
    let events = it.agent.client.agent_events(it.agent.id, &query).await;
    assert_eq!(events.unwrap().items, [first]);
}

#[tokio::test]
async fn a_question_wakes_the_agent_and_its_answer_comes_back() {
    let it = Scene::new().await;
    it.submit("one").await;
    let idle = it.world.agent("idle", &[&it.shop]).await;
    it.world.set_status(&idle, AgentStatus::Inactive).await;
    it.shop
        .client
        .target_create(idle.id, it.stack.id)
        .await
        .unwrap();
    let before = it.agent.target_state().await.inbox;
    let question = NewDiff {
        yaml_content: manifest("two"),
    };
    let ticket = std::cell::OnceCell::new();
    let state = it.wakes_on(async {
        let asked = it.shop.client.diff_create(it.stack.id, &question).await;
        ticket.set(asked.unwrap()).unwrap();
    });
    assert!(state.await.inbox > before);
    let ticket = ticket.into_inner().unwrap();
    assert_eq!(
        ticket.agents,
        [it.agent.id],
        "who does not work is not asked"
    );
    let pending = it.agent.client.agent_diffs(it.agent.id).await.unwrap();
    assert_eq!(
        (pending[0].id, &pending[0].yaml_content),
        (ticket.id, &question.yaml_content)
    );
    let open = it
        .shop
        .client
        .diff_get(it.stack.id, ticket.id)
        .await
        .unwrap();
    assert_eq!(open.missing, [it.agent.id]);
    let answer: DiffAnswer = serde_json::from_value(serde_json::json!({ "objects": [
        { "kind": "ConfigMap", "namespace": "default", "name": "it", "change": "update",
          "before": { "data": { "text": "one" } }, "after": { "data": { "text": "two" } } },
    ] }))
    .unwrap();
    let client = &it.agent.client;
    client
        .diff_answer(it.agent.id, ticket.id, &answer)
        .await
        .unwrap();
    let closed = it
        .shop
        .client
        .diff_get(it.stack.id, ticket.id)
        .await
        .unwrap();
    assert!(closed.missing.is_empty());
    assert_eq!(closed.answers[0].answer, answer);
    assert!(client.agent_diffs(it.agent.id).await.unwrap().is_empty());
}

/// A question about manifests that no agent could read is answered at once.
#[tokio::test]
async fn a_question_is_checked_like_a_submission() {
    let it = Scene::new().await;
    let question = NewDiff {
        yaml_content: "kind: Nothing\n".to_owned(),
    };
    let refused = it.shop.client.diff_create(it.stack.id, &question).await;
    assert_eq!(
        refused.unwrap_err().code(),
        Some("invalid_deployment_object")
    );
}

#[tokio::test]
async fn a_stack_takes_objects_over_from_stacks_of_its_own_tenant() {
    let it = Scene::new().await;
    let old = it.shop.stack("old").await;
    let taking = |from| NewDeployment {
        take_from: vec![from],
        ..NewDeployment::of(manifest("one"))
    };
    let submit = async |from| -> Result<_, ClientError> {
        let client = &it.shop.client;
        client
            .deployment_create(it.stack.id, &taking(from), &Submit::default())
            .await
    };
    submit(old.id).await.unwrap();
    assert_eq!(it.agent.target_state().await.objects[0].take_from, [old.id]);
    let vault = it.world.tenant("bank").await.stack("vault").await;
    let refused = submit(vault.id).await.unwrap_err();
    assert_eq!(
        (refused.status(), refused.code()),
        (Some(400), Some("invalid_take_from"))
    );
}

/// What asking costs stays what it was: control and questions are served from memory too.
#[tokio::test]
async fn an_unchanged_poll_under_control_touches_no_database() {
    let it = Scene::new().await;
    it.submit("one").await;
    it.shop.client.stack_suspend(it.stack.id).await.unwrap();
    let question = NewDiff {
        yaml_content: manifest("two"),
    };
    it.shop
        .client
        .diff_create(it.stack.id, &question)
        .await
        .unwrap();
    let version = it.agent.target_state().await.version;
    it.world.database.close().await;
    assert_eq!(it.agent.poll(&version, None).await, None);
    let poll = Poll {
        without_bodies: true,
        ..Poll::default()
    };
    let state = it.agent.client.target_state(it.agent.id, &poll).await;
    let state = state.unwrap().unwrap();
    assert!(state.objects[0].control.suspended && state.inbox > 0);
}
