//! The user's own clusters: contexts of a kubeconfig, and only those that were named.

use std::path::Path;

use anyhow::{Context, bail};
use kube::config::Kubeconfig;

use super::Place;

/// Finds the contexts that were named; nothing is asked of their clusters yet.
pub(super) fn find(kubeconfig: &Path, contexts: &[String]) -> anyhow::Result<Vec<Place>> {
    let place = |context: &String| {
        anyhow::Ok(Place {
            name: plain(context),
            url: address(kubeconfig, Some(context))?,
            kubeconfig: kubeconfig.to_owned(),
            context: Some(context.clone()),
        })
    };
    contexts.iter().map(place).collect()
}

/// Where the cluster of the context is, or of the current one if none is named.
pub(super) fn address(kubeconfig: &Path, context: Option<&str>) -> anyhow::Result<String> {
    let shown = kubeconfig.display();
    let file = Kubeconfig::read_from(kubeconfig)
        .with_context(|| format!("cannot read the kubeconfig {shown}"))?;
    let wanted = context
        .or(file.current_context.as_deref())
        .unwrap_or_default();
    let found = file.contexts.iter().find(|one| one.name == wanted);
    let Some(context) = found.and_then(|one| one.context.as_ref()) else {
        let known: Vec<_> = file.contexts.iter().map(|one| one.name.as_str()).collect();
        bail!(
            "{shown} has no context `{wanted}`; it has {}",
            known.join(", ")
        );
    };
    let cluster = file.clusters.iter().find(|one| one.name == context.cluster);
    let server = cluster.and_then(|one| one.cluster.as_ref()?.server.clone());
    server.with_context(|| format!("{shown} does not say where the cluster of `{wanted}` is"))
}

/// The context's name, fit for a file and an agent.
fn plain(context: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '-',
    };
    context.chars().map(plain).take(63).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
clusters:
- {name: dev, cluster: {server: 'https://dev:6443'}}
- {name: prod, cluster: {server: 'https://prod:6443'}}
contexts:
- {name: Dev@here, context: {cluster: dev, user: me}}
- {name: prod, context: {cluster: prod, user: me}}
current-context: prod
users: [{name: me}]
";

    #[test]
    fn only_the_context_that_was_named_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, TWO).unwrap();
        let found = find(&file, &["Dev@here".to_owned()]).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|place| (&*place.name, &*place.url))
            .collect();
        assert_eq!(names, [("dev-here", "https://dev:6443")]);
        let error = find(&file, &["dev".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("has no context `dev`; it has Dev@here, prod"),
            "{error}"
        );
    }
}
