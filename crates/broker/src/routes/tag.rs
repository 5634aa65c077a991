//! Labels and annotations of agents and stacks.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{
    AgentAnnotation, AgentLabel, NewAgentAnnotation, NewAgentLabel, NewStackAnnotation,
    StackAnnotation, StackLabel,
};
use evenkeel_model::{AgentId, Annotation, AnnotationKey, Label, StackId};
use evenkeel_store::Owner;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, Path};
use crate::respond::{Created, Done};

/// The agent's labels.
#[utoipa::path(get, path = "/agents/{id}/labels", tag = "tags",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<AgentLabel>)))]
pub(crate) async fn agent_labels(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<AgentLabel>>> {
    let labels = app.labels(&caller, Owner::Agent(id)).await?;
    Ok(Answer(
        labels
            .into_iter()
            .map(|label| AgentLabel::new(id, label))
            .collect(),
    ))
}

/// Puts a label on the agent.
#[utoipa::path(post, path = "/agents/{id}/labels", tag = "tags",
    params(("id" = AgentId, Path)), request_body = NewAgentLabel,
    responses((status = 201, body = AgentLabel)))]
pub(crate) async fn agent_label_add(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Json(new): Json<NewAgentLabel>,
) -> Result<Created<AgentLabel>> {
    app.label_add(&caller, Owner::Agent(id), new.label.clone())
        .await?;
    Ok(Created(AgentLabel::new(id, new.label)))
}

/// Takes a label from the agent.
#[utoipa::path(delete, path = "/agents/{id}/labels/{label}", tag = "tags",
    params(("id" = AgentId, Path), ("label" = Label, Path)), responses((status = 204)))]
pub(crate) async fn agent_label_remove(
    State(app): State<App>,
    caller: Caller,
    Path((id, label)): Path<(AgentId, Label)>,
) -> Result<Done> {
    app.label_remove(&caller, Owner::Agent(id), label)
        .await
        .map(|()| Done)
}

/// The agent's annotations.
#[utoipa::path(get, path = "/agents/{id}/annotations", tag = "tags",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<AgentAnnotation>)))]
pub(crate) async fn agent_annotations(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<AgentAnnotation>>> {
    let found = app.annotations(&caller, Owner::Agent(id)).await?;
    Ok(Answer(
        found
            .into_iter()
            .map(|one| AgentAnnotation::new(id, one.key, one.value))
            .collect(),
    ))
}

/// Puts an annotation on the agent.
#[utoipa::path(post, path = "/agents/{id}/annotations", tag = "tags",
    params(("id" = AgentId, Path)), request_body = NewAgentAnnotation,
    responses((status = 201, body = AgentAnnotation)))]
pub(crate) async fn agent_annotation_add(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Json(new): Json<NewAgentAnnotation>,
) -> Result<Created<AgentAnnotation>> {
    let annotation = Annotation {
        key: new.key.clone(),
        value: new.value.clone(),
    };
    app.annotation_add(&caller, Owner::Agent(id), annotation)
        .await?;
    Ok(Created(AgentAnnotation::new(id, new.key, new.value)))
}

/// Takes an annotation from the agent.
#[utoipa::path(delete, path = "/agents/{id}/annotations/{key}", tag = "tags",
    params(("id" = AgentId, Path), ("key" = AnnotationKey, Path)), responses((status = 204)))]
pub(crate) async fn agent_annotation_remove(
    State(app): State<App>,
    caller: Caller,
    Path((id, key)): Path<(AgentId, AnnotationKey)>,
) -> Result<Done> {
    app.annotation_remove(&caller, Owner::Agent(id), key)
        .await
        .map(|()| Done)
}

/// The stack's labels.
#[utoipa::path(get, path = "/stacks/{id}/labels", tag = "tags",
    params(("id" = StackId, Path)), responses((status = 200, body = Vec<StackLabel>)))]
pub(crate) async fn stack_labels(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<Vec<StackLabel>>> {
    let labels = app.labels(&caller, Owner::Stack(id)).await?;
    Ok(Answer(
        labels
            .into_iter()
            .map(|label| StackLabel::new(id, label))
            .collect(),
    ))
}

/// Puts a label on the stack; the body is the label as a JSON text.
#[utoipa::path(post, path = "/stacks/{id}/labels", tag = "tags",
    params(("id" = StackId, Path)), request_body = Label,
    responses((status = 201, body = StackLabel)))]
pub(crate) async fn stack_label_add(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Json(label): Json<Label>,
) -> Result<Created<StackLabel>> {
    app.label_add(&caller, Owner::Stack(id), label.clone())
        .await?;
    Ok(Created(StackLabel::new(id, label)))
}

/// Takes a label from the stack.
#[utoipa::path(delete, path = "/stacks/{id}/labels/{label}", tag = "tags",
    params(("id" = StackId, Path), ("label" = Label, Path)), responses((status = 204)))]
pub(crate) async fn stack_label_remove(
    State(app): State<App>,
    caller: Caller,
    Path((id, label)): Path<(StackId, Label)>,
) -> Result<Done> {
    app.label_remove(&caller, Owner::Stack(id), label)
        .await
        .map(|()| Done)
}

/// The stack's annotations.
#[utoipa::path(get, path = "/stacks/{id}/annotations", tag = "tags",
    params(("id" = StackId, Path)), responses((status = 200, body = Vec<StackAnnotation>)))]
pub(crate) async fn stack_annotations(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<Vec<StackAnnotation>>> {
    let found = app.annotations(&caller, Owner::Stack(id)).await?;
    Ok(Answer(
        found
            .into_iter()
            .map(|one| StackAnnotation::new(id, one.key, one.value))
            .collect(),
    ))
}

/// Puts an annotation on the stack.
#[utoipa::path(post, path = "/stacks/{id}/annotations", tag = "tags",
    params(("id" = StackId, Path)), request_body = NewStackAnnotation,
    responses((status = 201, body = StackAnnotation)))]
pub(crate) async fn stack_annotation_add(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Json(new): Json<NewStackAnnotation>,
) -> Result<Created<StackAnnotation>> {
    let annotation = Annotation {
        key: new.key.clone(),
        value: new.value.clone(),
    };
    app.annotation_add(&caller, Owner::Stack(id), annotation)
        .await?;
    Ok(Created(StackAnnotation::new(id, new.key, new.value)))
}

/// Takes an annotation from the stack.
#[utoipa::path(delete, path = "/stacks/{id}/annotations/{key}", tag = "tags",
    params(("id" = StackId, Path), ("key" = AnnotationKey, Path)), responses((status = 204)))]
pub(crate) async fn stack_annotation_remove(
    State(app): State<App>,
    caller: Caller,
    Path((id, key)): Path<(StackId, AnnotationKey)>,
) -> Result<Done> {
    app.annotation_remove(&caller, Owner::Stack(id), key)
        .await
        .map(|()| Done)
}
