//! The file that tells kubectl and its like how to reach a cluster.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How to reach one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kubeconfig {
    /// What the cluster, its user and the context are called.
    pub name: String,
    /// The server's address, such as [`Server::url`](super::Server::url) tells it.
    pub server: String,
    /// The certificate of the authority to trust (PEM), for a server with TLS.
    pub authority: Option<String>,
    /// The token to introduce oneself with, if one is needed.
    pub token: Option<String>,
}

impl Kubeconfig {
    /// The content of the file. JSON is YAML, too.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.value())
    }

    /// Writes the file, in one step and for its owner's eyes only.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let draft = path.with_added_extension("new");
        let written = write_private(&draft, &self.text()).and_then(|()| fs::rename(&draft, path));
        written.inspect_err(|_| drop(fs::remove_file(&draft)))
    }

    fn value(&self) -> Value {
        let mut cluster = json!({ "server": self.server });
        if let Some(authority) = &self.authority {
            cluster["certificate-authority-data"] = STANDARD.encode(authority).into();
        }
        let user = self
            .token
            .as_ref()
            .map_or_else(|| json!({}), |token| json!({ "token": token }));
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": self.name, "cluster": cluster }],
            "users": [{ "name": self.name, "user": user }],
            "contexts": [{ "name": self.name, "context": { "cluster": self.name, "user": self.name } }],
            "current-context": self.name,
        })
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // A draft that was left behind may have other rights.
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Kubeconfig {
        Kubeconfig {
            name: "sim".into(),
            server: "https://127.0.0.1:6443".into(),
            authority: Some("PEM".into()),
            token: None,
        }
    }

    #[test]
    fn the_file_says_where_the_cluster_is_and_whom_to_trust() {
        let value: Value = serde_saphyr::from_str(&config().text()).unwrap();
        assert_eq!(
            value["clusters"][0]["cluster"]["server"],
            "https://127.0.0.1:6443"
        );
        assert_eq!(
            value["clusters"][0]["cluster"]["certificate-authority-data"],
            "UEVN"
        );
        assert_eq!(value["contexts"][0]["name"], value["current-context"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_the_file_even_where_one_was() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("config");
        fs::write(&path, "old").unwrap();
        config().write(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), config().text());
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            1,
            "no draft is left behind"
        );
    }
}
