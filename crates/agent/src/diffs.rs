//! Answering what a revision would change, before anybody submits it.

use evenkeel_kubeset::Manifests;
use evenkeel_kubeset::diff::{Fate, ObjectDiff as Foreseen};
use evenkeel_model::{AgentId, DiffAnswer, DiffChange, ObjectDiff, PendingDiff};
use tokio::time::sleep;

use crate::policy;
use crate::shift::Shift;
use crate::words;

/// Answers questions for ever.
pub(crate) async fn answer(shift: &Shift, agent: AgentId) {
    let mut questions = shift.questions.subscribe();
    let policy = shift.agent.settings.retry_of_broker();
    let mut failures = 0;
    loop {
        failures = match answer_all(shift, agent).await {
            Ok(()) => 0,
            Err(error) => {
                tracing::debug!(%error, "questions of the broker are still open");
                failures + 1
            }
        };
        let again = policy.delay(failures, &*shift.agent.dice);
        tokio::select! {
            changed = questions.changed() => if changed.is_err() { return },
            () = sleep(again), if failures > 0 => {}
        }
    }
}

async fn answer_all(shift: &Shift, agent: AgentId) -> evenkeel_client::Result<()> {
    if *shift.questions.borrow() == 0 {
        return Ok(());
    }
    for question in shift.agent.broker.agent_diffs(agent).await? {
        let answer = look(shift, &question)
            .await
            .unwrap_or_else(|why| DiffAnswer {
                objects: Vec::new(),
                error: Some(why),
            });
        let sent = shift.agent.broker.diff_answer(agent, question.id, &answer);
        match sent.await {
            // Nobody waits for it any more.
            Err(error) if error.status() == Some(404) => {}
            sent => sent.map(drop)?,
        }
    }
    Ok(())
}

/// What the manifests of a question would change here.
async fn look(shift: &Shift, question: &PendingDiff) -> Result<DiffAnswer, String> {
    if !shift.stacks.is_active() {
        return Err("the agent is INACTIVE".to_owned());
    }
    let stack = shift.stacks.get(question.stack_id);
    let stack = stack.ok_or("the agent does not hold the stack yet")?;
    let manifests = Manifests::parse(&question.yaml_content).map_err(|error| error.to_string())?;
    // With the checksum of what is held: that every object gets another one is no news.
    let policy = policy::to_apply(&shift.agent.settings, &stack.order(), true);
    let foreseen = stack.set.diff(&manifests, &policy).await;
    let foreseen = foreseen.map_err(|error| error.to_string())?;
    Ok(DiffAnswer {
        objects: foreseen.objects.into_iter().map(said).collect(),
        error: None,
    })
}

fn said(foreseen: Foreseen) -> ObjectDiff {
    let change = match foreseen.fate {
        Fate::Create => DiffChange::Create,
        Fate::Update => DiffChange::Update,
        Fate::Delete => DiffChange::Delete,
        Fate::Release | Fate::Unchanged | Fate::Held => DiffChange::None,
        Fate::Error => DiffChange::Error,
    };
    let silent = foreseen.fate == Fate::Unchanged;
    ObjectDiff {
        object: words::object(&foreseen.key),
        change,
        before: foreseen.before,
        after: foreseen.after,
        message: (!silent).then_some(foreseen.why),
    }
}
