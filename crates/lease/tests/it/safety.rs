//! Whatever goes wrong: never two at once, and when all is well again, one.

use std::time::Duration;

use evenkeel_kubesim::faults::{Fault, Refusal, Which};
use proptest::prelude::*;

use crate::stage::{Stage, seconds};

#[derive(Debug, Clone)]
enum Trouble {
    CutOff,
    Slow(u64),
    LoseReplies(u64),
    Refuse(u64),
    Heal,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        Just(Trouble::CutOff),
        (1_u64..20).prop_map(Trouble::Slow),
        (1_u64..6).prop_map(Trouble::LoseReplies),
        (1_u64..6).prop_map(Trouble::Refuse),
        Just(Trouble::Heal),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_history_has_two_leaders_at_once(
        story in prop::collection::vec((0_usize..3, trouble(), 1_u64..25), 1..25),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let stage = Stage::new();
            let all = ["one", "two", "three"].map(|who| stage.stands(who));
            for (who, trouble, pause) in story {
                let view = &all[who].view;
                match trouble {
                    Trouble::CutOff => view.fault(Which::all(), Fault::LoseRequest),
                    Trouble::Slow(by) => {
                        view.fault(Which::writes(), Fault::Delay(Duration::from_secs(by)));
                    }
                    Trouble::LoseReplies(times) => {
                        view.fault_times(Which::writes(), Fault::LoseReply, times);
                    }
                    Trouble::Refuse(times) => {
                        let busy = Fault::Refuse(Refusal::code(500));
                        view.fault_times(Which::all(), busy, times);
                    }
                    Trouble::Heal => view.heal(),
                }
                seconds(pause).await;
            }
            assert!(stage.was_never_led_by_two(), "{:#?}", stage.history());
            all.iter().for_each(|candidate| candidate.view.heal());
            seconds(60).await;
            assert_eq!(stage.leaders().len(), 1, "{:#?}", stage.history());
        });
    }
}
