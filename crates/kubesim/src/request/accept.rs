//! In which form and encoding a client wants its answer.

use crate::status::ApiError;

/// What was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accept {
    pub(crate) form: Form,
    pub(crate) encoding: Encoding,
}

/// What an answer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole objects.
    Object,
    /// Their metadata only (`PartialObjectMetadata`).
    Metadata,
    /// A list of metadata only (`PartialObjectMetadataList`).
    MetadataList,
    /// A table with a row for each object.
    Table(TableVersion),
    /// Discovery of all groups in one answer.
    AggregatedDiscovery,
}

/// The versions of tables, which do not differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableVersion {
    V1,
    V1Beta1,
}

impl TableVersion {
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl Form {
    /// Whether objects are shown by their metadata only.
    pub(crate) fn is_metadata(self) -> bool {
        matches!(self, Self::Metadata | Self::MetadataList)
    }
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

impl Accept {
    /// Takes the first clause of an `Accept` header that can be served. Protobuf cannot, so a
    /// client that would also take plain JSON gets that.
    pub(crate) fn negotiate(header: &str) -> Result<Self, ApiError> {
        if header.trim().is_empty() {
            return Ok(Self {
                form: Form::Object,
                encoding: Encoding::Json,
            });
        }
        let mut clauses: Vec<(f32, Option<Form>, Encoding)> =
            header.split(',').filter_map(clause).collect();
        // The sort is stable: among equals, the first one named wins.
        clauses.sort_by(|a, b| b.0.total_cmp(&a.0));
        let served = clauses
            .iter()
            .find_map(|(_, form, encoding)| Some((form.as_ref()?, encoding)));
        match served {
            Some((form, encoding)) => Ok(Self {
                form: *form,
                encoding: *encoding,
            }),
            None if clauses.is_empty() => Err(ApiError::not_acceptable()),
            None => Err(ApiError::unknown_form()),
        }
    }
}

/// One clause: how much it is wanted, in which form (none that is known), in which encoding.
fn clause(text: &str) -> Option<(f32, Option<Form>, Encoding)> {
    let mut parts = text.split(';').map(str::trim);
    let encoding = match parts.next()? {
        "application/json" | "application/*" | "*/*" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        _ => return None,
    };
    let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let parameter = |name| {
        parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    };
    let form = form(parameter("g"), parameter("v"), parameter("as"));
    let quality = parameter("q").and_then(|q| q.parse().ok()).unwrap_or(1.0);
    Some((quality, form, encoding))
}

fn form(group: Option<&str>, version: Option<&str>, kind: Option<&str>) -> Option<Form> {
    match (group, version, kind) {
        (_, _, None) => Some(Form::Object),
        (Some("meta.k8s.io"), Some("v1" | "v1beta1"), Some("PartialObjectMetadata")) => {
            Some(Form::Metadata)
        }
        (Some("meta.k8s.io"), Some("v1" | "v1beta1"), Some("PartialObjectMetadataList")) => {
            Some(Form::MetadataList)
        }
        (Some("meta.k8s.io"), Some("v1"), Some("Table")) => Some(Form::Table(TableVersion::V1)),
        (Some("meta.k8s.io"), Some("v1beta1"), Some("Table")) => {
            Some(Form::Table(TableVersion::V1Beta1))
        }
        (Some("apidiscovery.k8s.io"), Some("v2"), Some("APIGroupDiscoveryList")) => {
            Some(Form::AggregatedDiscovery)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form_of(header: &str) -> Option<Form> {
        Accept::negotiate(header).ok().map(|accept| accept.form)
    }

    #[test]
    fn the_first_form_that_can_be_served_wins() {
        assert_eq!(form_of(""), Some(Form::Object));
        assert_eq!(
            form_of("application/vnd.kubernetes.protobuf,application/json"),
            Some(Form::Object)
        );
        assert_eq!(
            form_of("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Some(Form::Table(TableVersion::V1))
        );
        assert_eq!(
            form_of("application/json;as=Chair;v=v1;g=meta.k8s.io,application/json"),
            Some(Form::Object)
        );
        assert_eq!(
            form_of("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
            Some(Form::Metadata)
        );
        assert_eq!(form_of("text/html"), None);
    }
}
