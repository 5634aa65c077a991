//! `describe`: what hangs on what.

use evenkeel_api::ReportedHealth;
use evenkeel_model::HealthStatus;

use crate::fleet::Fleet;

#[tokio::test]
async fn a_stack_is_told_with_its_agents_and_their_objects() {
    let fleet = Fleet::start();
    let (one, two) = (fleet.agent("eu-1"), fleet.agent("eu-2"));
    fleet.apply_shop();
    one.applies().await;
    let waits = |report| ReportedHealth {
        waiting: Some("12 objects would be deleted".to_owned()),
        ..report
    };
    one.health(HealthStatus::Degraded, Some("text is missing"), waits)
        .await;
    two.fails("the quota is used up").await;
    let expected = "\
stack shop  revision 1  degraded  of default  to region=eu
├─ agent eu-1  applied  revision 1  degraded  12 objects would be deleted
│  └─ ConfigMap shop/greeting  degraded  text is missing
└─ agent eu-2  failed  -  -  the quota is used up
   ├─ Namespace shop  -
   └─ ConfigMap shop/greeting  -
";
    assert_eq!(fleet.run(&["describe", "stack", "shop"]).ok(), expected);
    assert_eq!(fleet.run(&["describe", "stack/shop"]).ok(), expected);
    let story = fleet
        .run(&["describe", "stack", "shop", "-o", "json"])
        .json();
    let on = &story["stack"]["on"];
    assert_eq!(on[0]["objects"][0]["reason"], "text is missing");
    assert_eq!(on[1]["error"], "the quota is used up");
    assert_eq!(
        fleet.run(&["describe", "stack", "shop", "-o", "name"]).ok(),
        "stack/shop\n"
    );
}

#[tokio::test]
async fn an_agent_is_told_with_its_stacks_and_their_objects() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let expected = "\
agent eu-1  on cluster eu-1  ACTIVE  region=eu
└─ stack shop  applied  revision 1  -
";
    assert_eq!(fleet.run(&["describe", "agent", "eu-1"]).ok(), expected);
    let (degraded, why) = (HealthStatus::Degraded, "text is missing");
    agent.health(degraded, Some(why), |report| report).await;
    let expected = "\
agent eu-1  on cluster eu-1  ACTIVE  region=eu
└─ stack shop  applied  revision 1  degraded
   └─ ConfigMap shop/greeting  degraded  text is missing
";
    assert_eq!(fleet.run(&["describe", "agent", "eu-1"]).ok(), expected);
}

#[test]
fn other_things_cannot_be_described() {
    let fleet = Fleet::start();
    let error = fleet.run(&["describe", "boat", "ada"]).failed(2);
    assert!(error.contains("`stack NAME` or `agent NAME`"), "{error}");
}
