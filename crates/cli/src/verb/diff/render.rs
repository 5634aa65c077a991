//! Changes as text, in the way of `diff -u`.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::noun::change::{Change, ChangeKind};
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
    let (word, tone) = change.kind.word();
    let title = palette.paint(tone, word);
    format!("{title} {}\n{}\n", change.id, lines(change, palette))
}

fn lines(change: &Change, palette: Palette) -> String {
    let [before, after] = [&change.before, &change.after]
        .map(|side: &Option<Value>| side.as_ref().map(yaml).unwrap_or_default());
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
    let count = |kind| changes.iter().filter(|change| change.kind == kind).count();
    let [create, update, delete] =
        [ChangeKind::Create, ChangeKind::Update, ChangeKind::Delete].map(count);
    format!("{create} to create, {update} to update, {delete} to delete\n")
}
