//! The numbers that the fields of built-in types have in protobuf messages.

use std::collections::BTreeMap;

/// What the numbers in a message stand for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Numbers(BTreeMap<u32, Meaning>);

/// What one number stands for.
#[derive(Debug, PartialEq)]
pub(crate) enum Meaning {
    /// The field of this name.
    Field(&'static str),
    /// A message whose fields are written as if they were the outer one's.
    Inlined(Numbers),
}

impl Numbers {
    /// Reads the field lines of a type in the generated table.
    pub(super) fn read(fields: &'static str) -> Self {
        let mut numbers = Self::default();
        for line in fields.lines() {
            let mut words = line.trim_start().split(' ');
            let name = words.next().unwrap_or_default().trim_end_matches('!');
            let path = words.find_map(|word| word.strip_prefix('#'));
            let path = path.map(|path| path.split('.').filter_map(|n| n.parse().ok()).collect());
            numbers.add(&path.unwrap_or_else(Vec::new), name);
        }
        numbers
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Meaning> {
        self.0.get(&number)
    }

    fn add(&mut self, path: &[u32], name: &'static str) {
        match path {
            [] => {}
            [number] => drop(self.0.insert(*number, Meaning::Field(name))),
            [number, rest @ ..] => {
                let inlined = || Meaning::Inlined(Self::default());
                if let Meaning::Inlined(inner) = self.0.entry(*number).or_insert_with(inlined) {
                    inner.add(rest, name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inlined_messages_are_found_below_their_own_number() {
        let numbers = Numbers::read(" name! +s #1\n hostPath ?@x #2.1\n emptyDir ?@y #2.2\n");
        assert_eq!(numbers.get(1), Some(&Meaning::Field("name")));
        let Some(Meaning::Inlined(source)) = numbers.get(2) else {
            panic!("not inlined: {numbers:?}")
        };
        assert_eq!(source.get(2), Some(&Meaning::Field("emptyDir")));
        assert_eq!(numbers.get(3), None);
    }
}
