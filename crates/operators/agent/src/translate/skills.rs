//! Skills: what the container that fetches them is told, and what it mounts.

use k8s_openapi::api::core::v1::{
    ConfigMapVolumeSource, Container, EmptyDirVolumeSource, SecretVolumeSource, Volume, VolumeMount,
};
use serde::Serialize;

use super::error::TranslateError;
use super::pod::{mount, named_volume, read_only};
use super::workload::{Workload, resources};
use super::{Scene, config};
use crate::api::skills::{GitRef, S3Ref, Skills};
use crate::go::url::Url;
use crate::go::{json, path};

pub(super) const FOLDER: &str = "/skills";
pub(super) const VOLUME: &str = "kagent-skills";
const GIT_AUTH_PATH: &str = "/git-auth";
const PULL_SECRETS_PATH: &str = "/docker-secrets";
const CONFIG_VOLUME: &str = "skills-init-config";
const CONFIG_PATH: &str = "/etc/kagent/skills-init";
const IMAGE: &str = "kagent-dev/kagent/skills-init";
const ARCHIVES: [&str; 3] = [".zip", ".tgz", ".tar.gz"];

/// What an agent with skills has besides.
pub(super) struct SkillsParts {
    /// The text of the ConfigMap.
    pub(super) config: String,
    pub(super) container: Container,
    pub(super) volumes: Vec<Volume>,
}

/// What the container that fetches skills is told. The order of fields is part of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FetchConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_mount_path: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    git_refs: Vec<FetchGit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    oci_refs: Vec<FetchImage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    s3_refs: Vec<FetchBucket>,
    #[serde(skip_serializing_if = "config::is_false")]
    insecure_oci: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ssh_hosts: Vec<SshHost>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    image_pull_secrets: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FetchGit {
    url: String,
    r#ref: String,
    dest: String,
    #[serde(skip_serializing_if = "config::is_false")]
    full: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    sub_path: String,
}

#[derive(Serialize)]
struct FetchImage {
    image: String,
    dest: String,
}

#[derive(Serialize)]
struct FetchBucket {
    uri: String,
    dest: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    region: String,
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct SshHost {
    host: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    port: String,
}

/// The names of all skills, as prompts may list them.
pub(super) fn names(skills: Option<&Skills>) -> Vec<String> {
    let Some(skills) = skills else {
        return Vec::new();
    };
    let images = skills
        .refs
        .iter()
        .flatten()
        .map(|image| image_name(image).to_owned());
    let repositories = skills.git_refs.iter().flatten().map(git_name);
    let buckets = skills.s3_refs.iter().flatten().map(s3_name);
    images.chain(repositories).chain(buckets).collect()
}

/// What a pod needs to have its skills fetched; nothing for an agent without any.
pub(super) fn parts(
    scene: &Scene<'_>,
    workload: &Workload,
) -> Result<Option<SkillsParts>, TranslateError> {
    let skills = scene
        .agent
        .spec
        .skills
        .as_ref()
        .filter(|skills| !names(Some(skills)).is_empty());
    let Some(skills) = skills else {
        return Ok(None);
    };
    let config = json::marshal(&fetch_config(skills)?).map_err(|source| TranslateError::Json {
        what: "the skills to fetch",
        source,
    })?;
    let (volumes, mounts) = volumes(scene, skills);
    let init = skills.init_container.clone().unwrap_or_default();
    let settings = scene.settings;
    let container = Container {
        name: "skills-init".to_owned(),
        image: Some(format!(
            "{}/{IMAGE}:{}",
            settings.image_registry, settings.image_tag
        )),
        env: init.env,
        resources: Some(resources(init.resources.as_ref())),
        security_context: workload.shared.security_context.clone(),
        volume_mounts: Some(mounts),
        ..Container::default()
    };
    Ok(Some(SkillsParts {
        config,
        container,
        volumes,
    }))
}

/// The name of the ConfigMap that tells what to fetch.
pub(super) fn config_map_name(scene: &Scene<'_>) -> String {
    format!("{}-skills-init", scene.name())
}

fn volumes(scene: &Scene<'_>, skills: &Skills) -> (Vec<Volume>, Vec<VolumeMount>) {
    let map = ConfigMapVolumeSource {
        name: config_map_name(scene),
        ..Default::default()
    };
    let mut volumes = vec![
        Volume {
            name: VOLUME.to_owned(),
            empty_dir: Some(EmptyDirVolumeSource::default()),
            ..Volume::default()
        },
        Volume {
            config_map: Some(map),
            ..named_volume(CONFIG_VOLUME)
        },
    ];
    let mut mounts = vec![mount(VOLUME, FOLDER), read_only(CONFIG_VOLUME, CONFIG_PATH)];
    if let Some(auth) = &skills.git_auth_secret_ref {
        volumes.push(secret_volume("git-auth", &auth.name));
        mounts.push(read_only("git-auth", GIT_AUTH_PATH));
    }
    for secret in skills.image_pull_secrets.iter().flatten() {
        let volume = format!("pull-secret-{}", secret.name);
        volumes.push(secret_volume(&volume, &secret.name));
        mounts.push(read_only(
            &volume,
            &format!("{PULL_SECRETS_PATH}/{}", secret.name),
        ));
    }
    (volumes, mounts)
}

fn secret_volume(name: &str, secret: &str) -> Volume {
    let source = SecretVolumeSource {
        secret_name: Some(secret.to_owned()),
        ..Default::default()
    };
    Volume {
        secret: Some(source),
        ..named_volume(name)
    }
}

fn fetch_config(skills: &Skills) -> Result<FetchConfig, TranslateError> {
    let mut taken = Vec::new();
    let git_refs = skills.git_refs.iter().flatten();
    let git_refs = git_refs
        .map(|git| fetch_git(git, &mut taken))
        .collect::<Result<_, _>>()?;
    let images = skills.refs.iter().flatten();
    let oci_refs = images
        .map(|image| fetch_image(image, &mut taken))
        .collect::<Result<_, _>>()?;
    let buckets = skills.s3_refs.iter().flatten();
    let s3_refs = buckets
        .map(|s3| fetch_bucket(s3, &mut taken))
        .collect::<Result<_, _>>()?;
    let has_auth = skills.git_auth_secret_ref.is_some();
    let pull_secrets = skills.image_pull_secrets.iter().flatten();
    Ok(FetchConfig {
        auth_mount_path: has_auth.then_some(GIT_AUTH_PATH),
        git_refs,
        oci_refs,
        s3_refs,
        insecure_oci: skills.insecure_skip_verify.unwrap_or_default(),
        ssh_hosts: if has_auth {
            ssh_hosts(skills)
        } else {
            Vec::new()
        },
        image_pull_secrets: pull_secrets.map(|secret| secret.name.clone()).collect(),
    })
}

/// The folder of a skill, which no other may have.
fn dest(name: &str, of: &str, taken: &mut Vec<String>) -> Result<String, TranslateError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let problem = if name.is_empty() || name == "." || name == ".." || !name.chars().all(plain) {
        format!("would be fetched into {name:?}, which is not the name of a folder")
    } else if taken.iter().any(|other| other == name) {
        format!("would be fetched into {name:?}, as another skill is")
    } else {
        taken.push(name.to_owned());
        return Ok(format!("{FOLDER}/{name}"));
    };
    Err(TranslateError::Malformed {
        what: "skill",
        value: of.to_owned(),
        problem,
    })
}

fn fetch_git(git: &GitRef, taken: &mut Vec<String>) -> Result<FetchGit, TranslateError> {
    let given = git.path.as_deref().unwrap_or_default();
    let sub_path = given.strip_suffix('/').unwrap_or(given);
    if !sub_path.is_empty() && !path::is_local(sub_path) {
        return Err(TranslateError::Malformed {
            what: "path of skill",
            value: sub_path.to_owned(),
            problem: "leaves the repository".to_owned(),
        });
    }
    let commit = git.r#ref.clone().filter(|commit| !commit.is_empty());
    let commit = commit.unwrap_or_else(|| "main".to_owned());
    Ok(FetchGit {
        dest: dest(&git_name(git), &git.url, taken)?,
        url: git.url.clone(),
        full: commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()),
        r#ref: commit,
        sub_path: sub_path.to_owned(),
    })
}

fn fetch_image(image: &str, taken: &mut Vec<String>) -> Result<FetchImage, TranslateError> {
    let dest = dest(image_name(image), image, taken)?;
    Ok(FetchImage {
        image: image.to_owned(),
        dest,
    })
}

fn fetch_bucket(s3: &S3Ref, taken: &mut Vec<String>) -> Result<FetchBucket, TranslateError> {
    Ok(FetchBucket {
        dest: dest(&s3_name(s3), &s3.uri, taken)?,
        uri: s3.uri.clone(),
        region: s3.region.clone().unwrap_or_default(),
    })
}

fn given_name(name: Option<&String>) -> Option<String> {
    name.map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
}

/// The last part of an image's name, without tag and digest.
fn image_name(image: &str) -> &str {
    let image = image.rsplit_once('@').map_or(image, |(image, _)| image);
    let last = path::base(image);
    last.rsplit_once(':').map_or(last, |(name, _)| name)
}

/// The name that was given, else the folder's, else the repository's.
fn git_name(git: &GitRef) -> String {
    let folder = git
        .path
        .as_deref()
        .unwrap_or_default()
        .trim()
        .trim_matches('/');
    given_name(git.name.as_ref()).unwrap_or_else(|| match folder {
        "" => repository_name(&git.url),
        folder => path::base(folder).to_owned(),
    })
}

fn repository_name(url: &str) -> String {
    let path = Url::parse(url)
        .map(|url| url.path)
        .filter(|path| !path.is_empty());
    let path = path.unwrap_or_else(|| url.to_owned());
    path::base(path.strip_suffix(".git").unwrap_or(&path)).to_owned()
}

/// The name that was given, else that of the folder or archive.
fn s3_name(s3: &S3Ref) -> String {
    given_name(s3.name.as_ref()).unwrap_or_else(|| {
        let key = s3.uri.strip_prefix("s3://").unwrap_or(&s3.uri);
        let last = path::base(key);
        let ending = ARCHIVES
            .iter()
            .find(|ending| last.to_ascii_lowercase().ends_with(**ending));
        last[..last.len() - ending.map_or(0, |ending| ending.len())].to_owned()
    })
}

/// Hosts whose keys are looked up before repositories are cloned from them.
fn ssh_hosts(skills: &Skills) -> Vec<SshHost> {
    let mut hosts: Vec<_> = skills
        .git_refs
        .iter()
        .flatten()
        .filter_map(|git| ssh_host(&git.url))
        .collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

fn ssh_host(url: &str) -> Option<SshHost> {
    let is_host = |host: &str| {
        !host.is_empty()
            && host
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
    };
    let (host, port) = if url.contains("://") {
        let url = Url::parse(url).filter(|url| matches!(url.scheme.as_str(), "ssh" | "git+ssh"))?;
        (url.host().to_owned(), url.port().to_owned())
    } else {
        let (place, path) = url.split_once(':')?;
        let host = place.split_once('@').map_or(place, |(_, host)| host);
        (
            Some(host.to_owned()).filter(|_| !path.is_empty())?,
            String::new(),
        )
    };
    let port = if port == "22" { String::new() } else { port };
    let good = is_host(&host) && port.chars().all(|c| c.is_ascii_digit());
    good.then_some(SshHost { host, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(url: &str, path: Option<&str>, name: Option<&str>) -> GitRef {
        GitRef {
            url: url.to_owned(),
            path: path.map(str::to_owned),
            name: name.map(str::to_owned),
            r#ref: None,
        }
    }

    #[test]
    fn images_are_named_without_tag_and_digest() {
        let images = [
            "skill:latest",
            "ghcr.io/org/skill:v1",
            "localhost:5000/skill",
            "a/skill:v1@sha256:ab",
        ];
        assert_eq!(images.map(image_name), ["skill"; 4]);
    }

    #[test]
    fn repositories_are_named_by_name_then_folder_then_address() {
        let url = "https://github.com/org/repo.git?x=1#y";
        assert_eq!(git_name(&git(url, Some("/a/b/"), Some("c"))), "c");
        assert_eq!(git_name(&git(url, Some("/a/b/"), None)), "b");
        assert_eq!(git_name(&git(url, None, None)), "repo");
        assert_eq!(
            git_name(&git("git@github.com:org/repo.git", None, None)),
            "repo"
        );
    }

    #[test]
    fn buckets_are_named_without_the_ending_of_archives() {
        let s3 = |uri: &str| {
            s3_name(&S3Ref {
                uri: uri.to_owned(),
                region: None,
                name: None,
            })
        };
        assert_eq!(s3("s3://bucket/team/kebab-maker"), "kebab-maker");
        assert_eq!(s3("s3://bucket/bundles/ops.tar.gz"), "ops");
    }

    #[test]
    fn hosts_are_those_of_ssh_addresses() {
        let host = |url| ssh_host(url).map(|found| format!("{}:{}", found.host, found.port));
        assert_eq!(
            host("git@github.com:org/repo.git").as_deref(),
            Some("github.com:")
        );
        assert_eq!(host("ssh://git@h.x:2222/o/r").as_deref(), Some("h.x:2222"));
        assert_eq!(host("ssh://git@h.x:22/o/r").as_deref(), Some("h.x:"));
        for other in [
            "https://github.com/o/r",
            "not-a-url",
            "git@foo$(id):r",
            "ssh://h$(x)/o",
        ] {
            assert_eq!(host(other), None, "{other}");
        }
    }

    #[test]
    fn skills_never_leave_their_folder_or_share_one() {
        let fetch = |skills: Skills| fetch_config(&skills).map(|_| ());
        let twice = ["a/skill:1", "b/skill:2"].map(str::to_owned).to_vec();
        assert!(
            fetch(Skills {
                refs: Some(twice),
                ..Skills::default()
            })
            .is_err()
        );
        for bad in ["../x", "a b", "x;y", "."] {
            let refs = vec![git("https://h/r", None, Some(bad))];
            assert!(
                fetch(Skills {
                    git_refs: Some(refs),
                    ..Skills::default()
                })
                .is_err(),
                "{bad}"
            );
        }
        let out = vec![git("https://h/r", Some("../x"), Some("ok"))];
        assert!(
            fetch(Skills {
                git_refs: Some(out),
                ..Skills::default()
            })
            .is_err()
        );
    }
}
