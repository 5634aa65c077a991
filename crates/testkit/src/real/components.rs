//! The processes of a control plane and their flags.

use std::ffi::OsString;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::binaries::Binaries;
use super::credentials::Credentials;
use crate::process::{Guarded, Nest, ProcessError, StopSignal, free_port};

/// What fills new namespaces, and makes namespaces and owned objects go away.
pub const LIFECYCLE_CONTROLLERS: &[&str] = &[
    "namespace-controller",
    "garbage-collector-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
];

/// What makes workloads run on pretended nodes.
pub const WORKLOAD_CONTROLLERS: &[&str] = &[
    "namespace-controller",
    "garbage-collector-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "endpointslice-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "node-lifecycle-controller",
    "disruption-controller",
    "replicationcontroller-controller",
    "endpoints-controller",
    "persistentvolume-binder-controller",
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-protection-controller",
    "clusterrole-aggregation-controller",
    "resourcequota-controller",
    "ttl-after-finished-controller",
];

const START: Duration = Duration::from_secs(90);

/// The command line of `component`, or an error that names it.
fn command(binaries: &Binaries, component: &str) -> Result<Vec<OsString>, ProcessError> {
    binaries
        .command(component)
        .ok_or_else(|| ProcessError::Start {
            program: component.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        })
}

fn start(
    binaries: &Binaries,
    nest: &Nest,
    component: &str,
    flags: Vec<String>,
) -> Result<Guarded, ProcessError> {
    let mut words = command(binaries, component)?;
    words.extend(flags.into_iter().map(OsString::from));
    Guarded::start(component, nest.room(component)?, StopSignal::Kill, words)
}

/// etcd with a data directory that nobody will miss. Returns it with its URL.
pub(super) async fn etcd(
    binaries: &Binaries,
    nest: &Nest,
) -> Result<(Guarded, String), ProcessError> {
    let port = free_port();
    let client = format!("http://127.0.0.1:{port}");
    let peer = format!("http://127.0.0.1:{}", free_port());
    let data = nest.room("etcd")?.join("data");
    let flags = vec![
        format!("--data-dir={}", data.display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--unsafe-no-fsync".into(),
        "--log-level=error".into(),
    ];
    let etcd = start(binaries, nest, "etcd", flags)?;
    etcd.ready(START, async || answers_ok(port, "/health").await)
        .await?;
    Ok((etcd, client))
}

/// The API server, not yet known to be ready: only a client with its certificate can tell.
pub(super) fn apiserver(
    binaries: &Binaries,
    nest: &Nest,
    etcd: &str,
    port: u16,
    files: &Credentials,
) -> Result<Guarded, ProcessError> {
    let file = |name: &str| files.path(name).display().to_string();
    let flags = vec![
        format!("--etcd-servers={etcd}"),
        "--bind-address=127.0.0.1".into(),
        format!("--secure-port={port}"),
        format!("--tls-cert-file={}", file("apiserver.crt")),
        format!("--tls-private-key-file={}", file("apiserver.key")),
        format!("--token-auth-file={}", file("tokens.csv")),
        format!("--service-account-key-file={}", file("sa.pub")),
        format!("--service-account-signing-key-file={}", file("sa.key")),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        "--service-cluster-ip-range=10.0.0.0/16".into(),
        "--authorization-mode=RBAC".into(),
        // Pods would wait for service accounts whose controller may not run.
        "--disable-admission-plugins=ServiceAccount".into(),
        "--endpoint-reconciler-type=none".into(),
        "--allow-privileged=true".into(),
        "--enable-priority-and-fairness=false".into(),
        "--max-requests-inflight=0".into(),
        "--max-mutating-requests-inflight=0".into(),
    ];
    start(binaries, nest, "kube-apiserver", flags)
}

pub(super) fn controller_manager(
    binaries: &Binaries,
    nest: &Nest,
    controllers: &[&str],
    files: &Credentials,
) -> Result<Guarded, ProcessError> {
    let mut flags = client_flags(files);
    flags.push(format!("--controllers={}", controllers.join(",")));
    flags.push(format!(
        "--service-account-private-key-file={}",
        files.path("sa.key").display()
    ));
    flags.push(format!("--root-ca-file={}", files.path("ca.crt").display()));
    start(binaries, nest, "kube-controller-manager", flags)
}

pub(super) fn scheduler(
    binaries: &Binaries,
    nest: &Nest,
    files: &Credentials,
) -> Result<Guarded, ProcessError> {
    start(binaries, nest, "kube-scheduler", client_flags(files))
}

/// kwok, which keeps every node alive and every pod running.
pub(super) fn kwok(
    binaries: &Binaries,
    nest: &Nest,
    files: &Credentials,
) -> Result<Guarded, ProcessError> {
    let stages = binaries.kwok_stages().ok_or_else(|| ProcessError::Start {
        program: "kwok (its stages.yaml)".to_owned(),
        source: std::io::ErrorKind::NotFound.into(),
    })?;
    let flags = vec![
        format!("--kubeconfig={}", files.path("kubeconfig").display()),
        format!("--config={}", stages.display()),
        "--manage-all-nodes=true".into(),
        "--node-lease-duration-seconds=40".into(),
        format!("--server-address=127.0.0.1:{}", free_port()),
    ];
    start(binaries, nest, "kwok", flags)
}

/// Flags of every component that is a client of the API server.
fn client_flags(files: &Credentials) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", files.path("kubeconfig").display()),
        "--leader-elect=false".into(),
        "--secure-port=0".into(),
        "--kube-api-qps=500".into(),
        "--kube-api-burst=1000".into(),
    ]
}

/// Whether a plain HTTP server at `port` answers `path` with 200.
async fn answers_ok(port: u16, path: &str) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    ask.await
        .is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
}
