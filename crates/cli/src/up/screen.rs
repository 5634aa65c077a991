//! What `evenkeel up` tells people and programs.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use super::cluster::RunningCluster;
use crate::args::{Output, UpOptions};
use crate::broker::RunningBroker;
use crate::data_dir::DataDir;

/// Says what runs where and what to type next.
pub(super) fn show(
    options: &UpOptions,
    data: &DataDir,
    broker: &RunningBroker,
    clusters: &[RunningCluster],
    shapes_cloud: Option<&str>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match options.output {
        Output::Json => {
            let mut told = as_json(data, broker, clusters);
            told["shapesCloud"] = json!(shapes_cloud);
            writeln!(out, "{told}")?;
        }
        Output::Text => {
            write!(out, "{}", as_text(options, data, broker, clusters))?;
            if let Some(url) = shapes_cloud {
                write!(out, "{}", about_shapes(url))?;
            }
        }
    }
    out.flush()
}

/// Says that the end has begun, and what stays.
pub(super) fn say_goodbye(options: &UpOptions, data: &DataDir) -> io::Result<()> {
    if options.output == Output::Json {
        return Ok(());
    }
    let what_stays = if options.ephemeral {
        "nothing is kept".to_owned()
    } else {
        format!("your clusters are kept in {}", data.path().display())
    };
    writeln!(io::stdout(), "\nStopping; {what_stays}.")
}

fn as_json(
    data: &DataDir,
    broker: &RunningBroker,
    clusters: &[RunningCluster],
) -> serde_json::Value {
    let clusters: Vec<_> = clusters
        .iter()
        .map(|cluster| {
            json!({
                "name": cluster.name,
                "url": cluster.url(),
                "kubeconfig": cluster.kubeconfig,
            })
        })
        .collect();
    let broker = json!({ "url": broker.url(), "adminKeyFile": admin_key_file(data) });
    json!({ "dataDir": data.path(), "broker": broker, "clusters": clusters })
}

fn as_text(
    options: &UpOptions,
    data: &DataDir,
    broker: &RunningBroker,
    clusters: &[RunningCluster],
) -> String {
    let (url, key) = (broker.url(), admin_key_file(data));
    let key = key.display();
    let mut text = format!("Evenkeel is up.\n\n  broker     {url}\n  admin key  {key}\n\n");
    let width = clusters.iter().map(|cluster| cluster.name.len()).max();
    let width = width.unwrap_or_default().max("cluster".len());
    text += &format!("  {:width$}  {:24}  kubeconfig\n", "cluster", "address");
    for cluster in clusters {
        let kubeconfig = cluster.kubeconfig.display();
        text += &format!(
            "  {:width$}  {:24}  {kubeconfig}\n",
            cluster.name,
            cluster.url()
        );
    }
    text += &format!("\nState: {}{}\n", data.path().display(), fate(options));
    if let Some(first) = clusters.first() {
        let kubeconfig = first.kubeconfig.display();
        text += &format!(
            "\nTry, in another terminal:\n  curl -H \"Authorization: Bearer $(cat {key})\" {url}/api/v1/fleet\n  export KUBECONFIG={kubeconfig}\n  kubectl get namespaces\n  kubectl apply --server-side --validate=false -f YOUR.yaml\n"
        );
    }
    text += "\nCtrl-C stops everything.\n";
    text
}

/// What a person can try with shapes.
fn about_shapes(url: &str) -> String {
    format!(
        "\nA shapes cloud is at {url}, kept as the Shapes of the first cluster declare:\n  \
         kubectl get shapes\n  curl {url}/v1/shapes\n  \
         curl -X DELETE {url}/v1/shapes/ID     and see it come back\n"
    )
}

fn admin_key_file(data: &DataDir) -> PathBuf {
    data.of_broker("admin-key")
}

fn fate(options: &UpOptions) -> &'static str {
    if options.ephemeral {
        " (temporary, goes when this ends)"
    } else {
        " (there again at the next `evenkeel up`)"
    }
}
