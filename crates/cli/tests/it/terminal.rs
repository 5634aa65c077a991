//! The command in a terminal: colours, questions, pictures that are drawn over.

use std::io::Write;
use std::process::Stdio;

use crate::fleet::Fleet;

impl Fleet {
    /// Runs a command line of the shell in a terminal of its own, types `typed`, and returns what
    /// stood on the screen, with its escape codes.
    fn in_terminal(&self, line: &str, typed: &str) -> String {
        let program = env!("CARGO_BIN_EXE_evenkeel");
        let line = format!(
            "stty cols 120 rows 40; {}",
            line.replace("evenkeel ", &format!("{program} "))
        );
        let mut command = std::process::Command::new("script");
        crate::fleet::at_home(&mut command, self.home.path());
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(typed.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        drop(stdin);
        String::from_utf8(output.stdout)
            .expect("text")
            .replace("\r\n", "\n")
    }
}

#[tokio::test]
async fn words_are_coloured_unless_somebody_objects() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let coloured = fleet.in_terminal("evenkeel get stacks", "");
    assert!(
        coloured.contains("\u{1b}[32mconverged\u{1b}[0m"),
        "{coloured:?}"
    );
    let plain = fleet.in_terminal("NO_COLOR=1 evenkeel get stacks", "");
    assert!(plain.contains("converged"), "{plain:?}");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
}

#[tokio::test]
async fn a_person_is_asked_and_told_what_will_go_where() {
    let fleet = Fleet::start();
    fleet.agent("eu-1");
    fleet.apply_shop();
    let screen = fleet.in_terminal("evenkeel delete stack shop", "n\n");
    let expected = "\
From eu-1:
  Namespace shop
  ConfigMap shop/greeting
Delete stack shop? [y/N] nothing was deleted
";
    assert_eq!(
        screen.replace("n\n", "").trim_start(),
        expected.replace("n\n", "")
    );
    assert_eq!(
        fleet.run(&["get", "stacks", "-o", "name"]).ok(),
        "stack/shop\n"
    );
    let screen = fleet.in_terminal("evenkeel delete stack shop", "y\n");
    assert!(screen.contains("stack/shop deleted; 1 agents"), "{screen}");
    assert_eq!(fleet.run(&["get", "stacks", "-o", "name"]).ok(), "");
}

#[test]
fn a_key_that_is_typed_is_not_shown() {
    let fleet = Fleet::start_unknown();
    let line = format!("evenkeel login {} --name typed", fleet.url);
    let screen = fleet.in_terminal(&line, &format!("{}\n", fleet.key));
    assert!(
        screen.contains("context/typed is now the current one"),
        "{screen}"
    );
    // What is typed before the question stands there is echoed by the terminal itself.
    assert!(
        !screen.split_once("Key: ").unwrap().1.contains(&fleet.key),
        "{screen}"
    );
}

#[tokio::test]
async fn a_watched_status_is_drawn_over_itself() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let screen = fleet.in_terminal("timeout -s INT 2 evenkeel status --watch", "");
    let frames: Vec<_> = screen.split("\u{1b}[2A\u{1b}[J").collect();
    assert!(frames.len() > 1, "{screen:?}");
    assert!(
        frames
            .iter()
            .all(|frame| frame.starts_with("STACK   AGENT")),
        "{screen:?}"
    );
}

#[test]
fn up_shows_how_far_it_is_and_what_to_type_next() {
    let fleet = Fleet::start_unknown();
    let line = "timeout -s INT 20 evenkeel up --ephemeral --cluster one";
    let screen = fleet.in_terminal(line, "");
    assert!(
        screen.contains("hello on one: \u{1b}[33mpending\u{1b}[0m"),
        "{screen:?}"
    );
    assert!(
        screen.contains("\u{1b}[1A\u{1b}[J"),
        "drawn over: {screen:?}"
    );
    assert!(
        screen.contains("Evenkeel is up, and everything converged, after "),
        "{screen}"
    );
    assert!(screen.contains("Try, in another terminal:\n"), "{screen}");
    assert!(
        screen.contains("\nStopping; nothing is kept.\n"),
        "{screen}"
    );
}
