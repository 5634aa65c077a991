//! Random sequences of writes, recorded with the field manager of Kubernetes 1.36.4 itself
//! (`recorded.json`, an object of the type of [`everything`]): the same objects, the same
//! managers and the same refusals must come out.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Step {
    op: String,
    manager: String,
    spec: Value,
    error: Option<String>,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    managers: Vec<Manager>,
}

#[derive(Deserialize)]
struct Manager {
    manager: String,
    operation: String,
    timed: bool,
    fields: Value,
}

#[test]
fn sequences_end_as_in_the_real_server() {
    let recorded: Vec<Vec<Step>> = serde_json::from_str(include_str!("recorded.json")).unwrap();
    let mut wrong = 0;
    for (nth, steps) in recorded.iter().enumerate() {
        if let Err(difference) = replay(steps) {
            wrong += 1;
            println!("sequence {nth}: {difference}\n");
        }
    }
    assert_eq!(wrong, 0, "of {} sequences", recorded.len());
}

fn replay(steps: &[Step]) -> Result<(), String> {
    let mut world = World::custom();
    for (nth, step) in steps.iter().enumerate() {
        let problem = write(&mut world, step);
        same(&problem, &step.error).map_err(|e| format!("step {nth}: {e}"))?;
        if problem.is_none() {
            let live = world.live.as_ref().unwrap();
            same(&live["spec"], &step.result).map_err(|e| format!("step {nth}: {e}"))?;
            same(&managers(&world), &sorted(&step.managers))
                .map_err(|e| format!("step {nth}: {e}"))?;
        }
    }
    Ok(())
}

/// What the step was refused with.
fn write(world: &mut World, step: &Step) -> Option<String> {
    let manager = ["m1", "m2", "m3"]
        .into_iter()
        .find(|name| *name == step.manager)
        .unwrap();
    let object = json!({"spec": step.spec});
    if step.op == "put" {
        world.put(manager, object);
        return None;
    }
    world
        .try_apply(manager, &object, step.op == "force")
        .err()
        .map(|error| error.to_string())
}

fn same<T: PartialEq + std::fmt::Debug>(ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs {
        Ok(())
    } else {
        Err(format!("\n  ours {ours:?}\ntheirs {theirs:?}"))
    }
}

fn managers(world: &World) -> Vec<String> {
    let mut found: Vec<_> = world
        .entries()
        .iter()
        .map(|entry| {
            format!(
                "{} {} {} {}",
                entry["manager"],
                entry["operation"],
                entry.get("time").is_some(),
                entry["fieldsV1"]
            )
        })
        .collect();
    found.sort();
    found
}

fn sorted(managers: &[Manager]) -> Vec<String> {
    let mut found: Vec<_> = managers
        .iter()
        .map(|entry| {
            format!(
                "{:?} {:?} {} {}",
                entry.manager, entry.operation, entry.timed, entry.fields
            )
        })
        .collect();
    found.sort();
    found
}
