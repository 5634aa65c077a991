//! What this program is called: `evenkeel`, or `kubectl evenkeel` when kubectl runs it.

use std::path::Path;

use clap::Command;

/// What kubectl looks for.
const PLUGIN: &str = "kubectl-evenkeel";

/// The name under which somebody runs this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Evenkeel,
    Plugin,
}

impl Program {
    /// As the first argument says.
    pub(crate) fn of(called_as: &str) -> Self {
        let name = Path::new(called_as).file_name();
        match name.and_then(|name| name.to_str()) {
            Some(PLUGIN) => Self::Plugin,
            _ => Self::Evenkeel,
        }
    }

    /// `text` with what people should type.
    pub(crate) fn speak(self, text: &str) -> String {
        match self {
            Self::Evenkeel => text.to_owned(),
            Self::Plugin => text.replace("evenkeel ", "kubectl evenkeel "),
        }
    }

    /// The command and all below it, with help that shows what people should type.
    pub(crate) fn name(self, command: Command) -> Command {
        match self {
            Self::Evenkeel => command,
            Self::Plugin => self.rewrite(command).bin_name("kubectl evenkeel"),
        }
    }

    fn rewrite(self, mut command: Command) -> Command {
        if let Some(help) = command.get_after_help() {
            let help = self.speak(&help.to_string());
            command = command.after_help(help);
        }
        command.mut_subcommands(|below| self.rewrite(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubectl_is_recognised_wherever_the_plugin_lies() {
        assert_eq!(Program::of("/usr/bin/kubectl-evenkeel"), Program::Plugin);
        assert_eq!(Program::of("./evenkeel"), Program::Evenkeel);
    }

    #[test]
    fn advice_is_what_people_should_type() {
        let advice = "`evenkeel login URL`";
        assert_eq!(
            Program::Plugin.speak(advice),
            "`kubectl evenkeel login URL`"
        );
        assert_eq!(Program::Evenkeel.speak(advice), advice);
    }
}
