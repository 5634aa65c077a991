//! How to run everything on one machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::Output;

/// Run Evenkeel on this machine, with nothing else installed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel up                          two simulated clusters, kept in your data directory
  evenkeel up --ephemeral              nothing is kept
  evenkeel up --cluster east --cluster west --cluster north
  evenkeel up --control-plane real     real API servers, as the test bed builds them
  evenkeel up --kubeconfig ~/.kube/config --context kind-dev     your own cluster
  evenkeel up -o json | jq .clusters   for scripts; the command keeps running

A broker, clusters, an agent for each of them and a sample stack. While it runs, the other commands
find it through the context `local`. Stop it with Ctrl-C; what you made is there again at the next
`evenkeel up`, except in real API servers, which begin empty and are filled again.
Of a kubeconfig only the contexts that you name are touched.")]
pub(crate) struct UpOptions {
    /// Name a cluster to run; can be given several times.
    #[arg(long = "cluster", value_name = "NAME", default_values = ["local-a", "local-b"], value_parser = cluster_name)]
    pub(crate) clusters: Vec<String>,

    /// What the clusters are.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub(crate) control_plane: ControlPlane,

    /// Use clusters of your own instead: the file that tells how to reach them.
    #[arg(long, value_name = "FILE", requires = "contexts", conflicts_with_all = ["clusters", "control_plane"])]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Which context of the kubeconfig; can be given several times.
    #[arg(long = "context", value_name = "NAME", requires = "kubeconfig")]
    pub(crate) contexts: Vec<String>,

    /// The broker's port [default: a free one, the same at the next time].
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Where state is kept [default: $XDG_DATA_HOME/evenkeel or ~/.local/share/evenkeel].
    #[arg(long, value_name = "DIR", env = "EVENKEEL_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Keep nothing: state lives in a temporary directory that goes when the command ends.
    #[arg(long, conflicts_with = "data_dir")]
    pub(crate) ephemeral: bool,

    /// Deliver no sample stack.
    #[arg(long)]
    pub(crate) no_sample: bool,

    /// How to tell what runs where.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

/// What a cluster consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ControlPlane {
    /// Simulated in this process.
    #[default]
    Simulated,
    /// etcd, kube-apiserver and controllers, as `make testbed` builds them.
    Real,
}

/// A cluster's name becomes a file name and a context in a kubeconfig, so it is kept plain.
fn cluster_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if starts_well && text.len() <= 63 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("a name is up to 63 lower-case letters, digits and '-', such as local-a".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Command, Invocation};

    fn parsed(arguments: &[&str]) -> Result<UpOptions, clap::Error> {
        let arguments = [&["evenkeel", "up"], arguments].concat();
        match Invocation::try_parse_from(arguments)?.command {
            Command::Up(options) => Ok(options),
            other => panic!("not up: {other:?}"),
        }
    }

    #[test]
    fn cluster_names_stay_plain() {
        assert!(cluster_name("local-a").is_ok());
        for bad in ["", "../x", "A", "-a", "a/b", &"a".repeat(64)] {
            assert!(cluster_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn two_clusters_run_by_default() {
        assert_eq!(parsed(&[]).unwrap().clusters, ["local-a", "local-b"]);
    }

    #[test]
    fn a_kubeconfig_needs_a_context_that_is_named() {
        assert!(parsed(&["--kubeconfig", "x"]).is_err());
        assert!(parsed(&["--context", "x"]).is_err());
        assert!(parsed(&["--kubeconfig", "x", "--context", "dev"]).is_ok());
        assert!(parsed(&["--kubeconfig", "x", "--context", "dev", "--cluster", "a"]).is_err());
    }
}
