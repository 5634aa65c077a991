//! Changes as text, in the way of `diff -u`.

use evenkeel_model::DiffChange;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::noun::change::Change;
use crate::noun::object;
use crate::output::cell::Cell;
use crate::output::tone::{Palette, Tone};
use crate::output::yaml;

/// So many unchanged lines stand around each change.
const AROUND: usize = 3;

/// Every change under a title, then how many there are of each kind.
pub(crate) fn text(changes: &[Change], palette: Palette) -> String {
    let each: String = changes.iter().map(|change| one(change, palette)).collect();
    each + &sums(changes)
}

fn one(change: &Change, palette: Palette) -> String {
    let word = change.diff.change;
    let word = palette.paint(Cell::from(word).tone(), word.as_str());
    let place = change.agent.as_ref().map(|agent| format!(" on {agent}"));
    let title = format!(
        "{word} {}{}",
        object::shown(change.object()),
        place.unwrap_or_default()
    );
    let message = change
        .diff
        .message
        .as_ref()
        .map(|text| format!("  {text}\n"));
    format!(
        "{title}\n{}{}\n",
        message.unwrap_or_default(),
        lines(change, palette)
    )
}

fn lines(change: &Change, palette: Palette) -> String {
    let side = |value: &Option<Value>| value.as_ref().map(yaml).unwrap_or_default();
    let (before, after) = (side(&change.diff.before), side(&change.diff.after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut text = String::new();
    for (at, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            text += "  ...\n";
        }
        for line in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, tone) = match line.tag() {
                ChangeTag::Equal => (' ', Tone::Plain),
                ChangeTag::Insert => ('+', Tone::Good),
                ChangeTag::Delete => ('-', Tone::Bad),
            };
            let content = line.value().trim_end_matches('\n');
            text += &palette.paint(tone, &format!("{sign} {content}"));
            text += "\n";
        }
    }
    text
}

fn sums(changes: &[Change]) -> String {
    let count = |kind| changes.iter().filter(|one| one.diff.change == kind).count();
    let words = [
        (DiffChange::Create, "to create"),
        (DiffChange::Update, "to update"),
        (DiffChange::Delete, "to delete"),
        (DiffChange::Error, "refused"),
    ];
    let counted = words.map(|(kind, word)| (count(kind), kind, word));
    let shown = counted
        .iter()
        .filter(|(count, kind, _)| *kind != DiffChange::Error || *count > 0);
    let shown: Vec<_> = shown
        .map(|(count, _, word)| format!("{count} {word}"))
        .collect();
    shown.join(", ") + "\n"
}
